// kernel: tables of functions in intervals, 32 of float32 and 16 of float64, a row for each coefficient: AVX-512 looks
// up a lane's number in two registers. Each is by interpolation, around a number whose value is nearly one of its type.
#if defined(TENON_KERNEL_INTERVALS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_INTERVALS_INL_H
#undef TENON_KERNEL_INTERVALS_INL_H
#else
#define TENON_KERNEL_INTERVALS_INL_H
#endif

#include "hwy/highway.h"

namespace tenon::HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// atan(c + t) = v + t (1 + s), around c = i/31, or i/15. By rows: c; v, a multiple of 2^-23, or 2^-52, so that pi/2 - v
// is exact; v - c; then the coefficients of s from the constant one on: 2^-27, or 2^-61.
template <class T>
struct ArcTangentIntervals;
template <>
struct ArcTangentIntervals<float> {
  static constexpr float last = 31;
  alignas(64) static constexpr float rows[7][32] = {
      {0x0p+0f,        0x1.082deep-5f, 0x1.085838p-4f, 0x1.8c738ap-4f, 0x1.083daap-3f, 0x1.4a576cp-3f, 0x1.8c6cbap-3f,
       0x1.ce63c8p-3f, 0x1.082c8ap-2f, 0x1.29373p-2f,  0x1.4a464cp-2f, 0x1.6b6efp-2f,  0x1.8c5eb4p-2f, 0x1.ad73b4p-2f,
       0x1.ce8788p-2f, 0x1.ef8546p-2f, 0x1.0840b6p-1f, 0x1.18cefp-1f,  0x1.29525ep-1f, 0x1.39d4f8p-1f, 0x1.4a5fd4p-1f,
       0x1.5ac5cp-1f,  0x1.6b48ep-1f,  0x1.7bdff2p-1f, 0x1.8c56dp-1f,  0x1.9cf978p-1f, 0x1.ad6224p-1f, 0x1.bdecdp-1f,
       0x1.ce7984p-1f, 0x1.df09ecp-1f, 0x1.ef8ea6p-1f, 0x1.ffd12p-1f},
      {0x0p+0f,        0x1.08168p-5f,  0x1.07fa8p-4f,  0x1.8b386p-4f,  0x1.06cap-3f,   0x1.47854p-3f,  0x1.8795p-3f,
       0x1.c6c3dp-3f,  0x1.028968p-2f, 0x1.21447p-2f,  0x1.3f7cd8p-2f, 0x1.5d3b7p-2f,  0x1.7a2ec8p-2f, 0x1.96a318p-2f,
       0x1.b2709p-2f,  0x1.cd81c8p-2f, 0x1.e7e4fp-2f,  0x1.00d8f8p-1f, 0x1.0d5e98p-1f, 0x1.198b18p-1f, 0x1.25652cp-1f,
       0x1.30cdfp-1f,  0x1.3bf49p-1f,  0x1.46d27cp-1f, 0x1.514758p-1f, 0x1.5b84b4p-1f, 0x1.654e1cp-1f, 0x1.6edd08p-1f,
       0x1.782004p-1f, 0x1.8119f4p-1f, 0x1.89c4ep-1f,  0x1.920844p-1f},
      {0x0p+0f,         -0x1.76dfa4p-17f, -0x1.76e00ep-14f, -0x1.3b2ap-12f, -0x1.73aap-11f, -0x1.6916p-10f,
       -0x1.35ee8p-9f,  -0x1.e7fep-9f,    -0x1.68c88p-8f,   -0x1.fcbp-8f,   -0x1.592e8p-7f, -0x1.c67p-7f,
       -0x1.22fecp-6f,  -0x1.6d09cp-6f,   -0x1.c16f8p-6f,   -0x1.101bfp-5f, -0x1.44e3ep-5f, -0x1.7f5f8p-5f,
       -0x1.bf3c6p-5f,  -0x1.024fp-4f,    -0x1.27d54p-4f,   -0x1.4fbe8p-4f, -0x1.7aa28p-4f, -0x1.a86bbp-4f,
       -0x1.d87bcp-4f,  -0x1.05d31p-3f,   -0x1.20502p-3f,   -0x1.3c3f2p-3f, -0x1.5966p-3f,  -0x1.77bfep-3f,
       -0x1.972718p-3f, -0x1.b7237p-3f},
      {0x0p+0f,         -0x1.10567ep-10f, -0x1.0fd44cp-8f, -0x1.302178p-7f, -0x1.0c47eep-6f, -0x1.9f7654p-6f,
       -0x1.27da82p-5f, -0x1.8d5522p-5f,  -0x1.ff3202p-5f, -0x1.3e4164p-4f, -0x1.81f306p-4f, -0x1.ca3b34p-4f,
       -0x1.0ade5cp-3f, -0x1.325558p-3f,  -0x1.5b091ep-3f, -0x1.84945ep-3f, -0x1.aeca3ep-3f, -0x1.d9960ep-3f,
       -0x1.023b76p-2f, -0x1.17a864p-2f,  -0x1.2d0592p-2f, -0x1.4203f8p-2f, -0x1.56e614p-2f, -0x1.6b8f2p-2f,
       -0x1.7fb12cp-2f, -0x1.939d84p-2f,  -0x1.a6d1d8p-2f, -0x1.b9b3acp-2f, -0x1.cc177cp-2f, -0x1.ddfaeap-2f,
       -0x1.ef4b18p-2f, -0x1.ffd11ep-2f},
      {0x0p+0f,         -0x1.07a122p-5f, -0x1.0627f2p-4f, -0x1.85205p-4f,  -0x1.ff50fp-4f,  -0x1.39cce6p-3f,
       -0x1.704eep-3f,  -0x1.a29f9ap-3f, -0x1.d07732p-3f, -0x1.f9a576p-3f, -0x1.0ef752p-2f, -0x1.1eaa4ep-2f,
       -0x1.2bccfep-2f, -0x1.36968cp-2f, -0x1.3f0ee6p-2f, -0x1.4552acp-2f, -0x1.498d08p-2f, -0x1.4be87cp-2f,
       -0x1.4c8b9ep-2f, -0x1.4ba4ecp-2f, -0x1.495f44p-2f, -0x1.45ef1cp-2f, -0x1.4170cp-2f,  -0x1.3c0994p-2f,
       -0x1.35f01ep-2f, -0x1.2f299ap-2f, -0x1.27fec8p-2f, -0x1.206446p-2f, -0x1.188058p-2f, -0x1.106818p-2f,
       -0x1.08366ap-2f, -0x1.00177p-2f},
      {-0x1.5549dp-2f,  -0x1.53256ap-2f, -0x1.4cd432p-2f, -0x1.4287a6p-2f, -0x1.349036p-2f, -0x1.234fe2p-2f,
       -0x1.0f443ap-2f, -0x1.f2145cp-3f, -0x1.c24de2p-3f, -0x1.902e36p-3f, -0x1.5cfd5cp-3f, -0x1.298b9ap-3f,
       -0x1.ee6e94p-4f, -0x1.8ca572p-4f, -0x1.2f67f4p-4f, -0x1.b04224p-5f, -0x1.0e1ad2p-5f, -0x1.e64ae8p-7f,
       0x1.b0c4dep-10f, 0x1.092116p-6f,  0x1.de5f5ap-6f,  0x1.4a5f18p-5f,  0x1.99cdc2p-5f,  0x1.dd55acp-5f,
       0x1.0a66bep-4f,  0x1.210914p-4f,  0x1.3251c2p-4f,  0x1.3fffb4p-4f,  0x1.49f708p-4f,  0x1.50cd0ap-4f,
       0x1.543c68p-4f,  0x1.555a7ep-4f},
      {0x0p+0f,        0x1.00978ap-5f, 0x1.01b968p-4f, 0x1.79df5p-4f,  0x1.e6643p-4f,  0x1.2203b6p-3f, 0x1.49897ep-3f,
       0x1.67caacp-3f, 0x1.7cf2c4p-3f, 0x1.89e2cap-3f, 0x1.8e4104p-3f, 0x1.8b31a6p-3f, 0x1.817a8cp-3f, 0x1.725aap-3f,
       0x1.5e73d4p-3f, 0x1.472ab2p-3f, 0x1.2da0c4p-3f, 0x1.124656p-3f, 0x1.ed911ep-4f, 0x1.b5042ep-4f, 0x1.7fa4a8p-4f,
       0x1.4b88ap-4f,  0x1.1a52f4p-4f, 0x1.d8d80cp-5f, 0x1.8418b8p-5f, 0x1.37d52ep-5f, 0x1.e3ace4p-6f, 0x1.6797d4p-6f,
       0x1.f508cap-7f, 0x1.388a88p-7f, 0x1.1cd9dep-8f, -0x1.19fd2p-21f}};
};
template <>
struct ArcTangentIntervals<double> {
  static constexpr double last = 15;
  alignas(64) static constexpr double rows[13][16] = {
      {0x0p+0, 0x1.1111106010c3ap-4, 0x1.1111119211498p-3, 0x1.999999cb99af8p-3, 0x1.11110eca1012p-2,
       0x1.5555543854d8ap-2, 0x1.99999b089a3a3p-2, 0x1.ddddde9bde31p-2, 0x1.1111115c1131ep-1, 0x1.333331b03289ep-1,
       0x1.555555cf558abp-1, 0x1.777776c8772aep-1, 0x1.999997aa98c11p-1, 0x1.bbbbba13bb024p-1, 0x1.dddddf1ade689p-1,
       0x1.fffffc1bfe4c4p-1},
      {0x0p+0, 0x1.10a9c6b5bba4p-4, 0x1.0f772e00bd218p-3, 0x1.94441fbf8627p-3, 0x1.0adb5856f5668p-2,
       0x1.4978f931e97dcp-2, 0x1.85a377f2d980cp-2, 0x1.bf1b314bcd11p-2, 0x1.f5b7600790728p-2, 0x1.14b1dc4301422p-1,
       0x1.2d0eadb4dc85ap-1, 0x1.43f7a7500817ep-1, 0x1.5977a3e269d9ap-1, 0x1.6d9d4ad7b34ecp-1, 0x1.8079c6d2a63d6p-1,
       0x1.921fb35241f5cp-1},
      {0x0p+0, -0x1.9d26a9547e7f1p-14, -0x1.99e3915428p-11, -0x1.555e8304e22p-9, -0x1.8d6d9cc6aaep-8,
       -0x1.7b8b60cd6b5cp-7, -0x1.3f62315c0b97p-6, -0x1.ec2ad50112p-6, -0x1.635615848f8ap-5, -0x1.e81556d3147cp-5,
       -0x1.423540d3c8288p-4, -0x1.9bfe7bc37898p-4, -0x1.0087cf20bb9dcp-3, -0x1.3879bcf01ecep-3, -0x1.75906120e0accp-3,
       -0x1.b7812326f15ap-3},
      {0x0p+0, -0x1.21fb769bdb08dp-8, -0x1.1e2ef4bda7804p-6, -0x1.3b13b1850abafp-5, -0x1.0feefcd3daab8p-4,
       -0x1.99999731fef34p-4, -0x1.1a7b97c60b18dp-3, -0x1.6e3f8957cd34dp-3, -0x1.c5894dd2cb813p-3,
       -0x1.0f0f0d18e4913p-2, -0x1.3b13b1d701c7fp-2, -0x1.661aa1ed3619p-2, -0x1.8f9c16acd126bp-2, -0x1.b73a7847a24d1p-2,
       -0x1.dcbb4ae5cbc5fp-2, -0x1.fffffc1bfe487p-2},
      {0x0p+0, -0x1.0ea7cdc44cb39p-4, -0x1.079c4c644f11fp-3, -0x1.7ab2bf04469f1p-3, -0x1.dc065a6de0b56p-3,
       -0x1.147ae0bd2b483p-2, -0x1.306647b50355cp-2, -0x1.423bc4d67ecd2p-2, -0x1.4b07d026c6eb5p-2,
       -0x1.4c2e100a7164fp-2, -0x1.4731fcdd702a2p-2, -0x1.3d8d31ddf3ae2p-2, -0x1.3094a373e003p-2, -0x1.216adbb53d7fcp-2,
       -0x1.10fbf6a90d086p-2, -0x1.000001f200d9ep-2},
      {-0x1.55555555554a6p-2, -0x1.4c54d794b506bp-2, -0x1.327d8b97af4d2p-2, -0x1.0b07e26ab67e1p-2,
       -0x1.b503bb6194752p-3, -0x1.4bc6a9aad981cp-3, -0x1.c6d98c6e60ec6p-4, -0x1.061671b29f844p-4,
       -0x1.79fe456339589p-6, 0x1.5b6085dcad2a3p-7, 0x1.2e06c4b8afc4fp-5, 0x1.cc8ee344f6829p-5, 0x1.1cc53c1ba8955p-4,
       0x1.3eafd59215e4ep-4, 0x1.50405a671bc32p-4, 0x1.5555555550059p-4},
      {0x0p+0, 0x1.0b12c471fcc2ep-4, 0x1.f3ea5d866a3dap-4, 0x1.501f685e0aefbp-3, 0x1.816944c3e7324p-3,
       0x1.8e2196635edb9p-3, 0x1.7c0c057d7487p-3, 0x1.53ef1f34d41d3p-3, 0x1.1f26b911ba2adp-3, 0x1.cbc3c28fbd73fp-4,
       0x1.5c7df231dd139p-4, 0x1.f08e3e56d7488p-5, 0x1.46247210dba9ap-5, 0x1.77db74f8a83c3p-6, 0x1.41973df746becp-7,
       0x1.f2003ca8e4608p-27},
      {0x1.99999996aeb32p-3, 0x1.7eda2b424f8e2p-3, 0x1.34f8aa50db199p-3, 0x1.996154006ba06p-4, 0x1.6d1a8b96633c6p-5,
       -0x1.7e34890aa9d08p-8, -0x1.7030a9ce8b9d2p-5, -0x1.1fb9017f1f604p-4, -0x1.516696edff1b3p-4,
       -0x1.57b253f2cc427p-4, -0x1.401394c0a9566p-4, -0x1.1749432da10dbp-4, -0x1.ceeb33f264059p-5,
       -0x1.6f34c0585a84ap-5, -0x1.17d042e90a18ap-5, -0x1.9999a820bdcc1p-6},
      {0x0p+0, -0x1.05f67db946727p-4, -0x1.ce60a718d63b2p-4, -0x1.1911adf683267p-3, -0x1.15c19e1f3f7dep-3,
       -0x1.d1d043f5e011cp-4, -0x1.4b08a9309a16ep-4, -0x1.78da29c6b7bf3p-5, -0x1.0257a0b8972f7p-6, 0x1.b57dcbc214af1p-8,
       0x1.557b2094ad0d5p-6, 0x1.c95d4e8e7eebcp-6, 0x1.e78e99b726802p-6, 0x1.ceb4337e46da9p-6, 0x1.97f52793e4d4p-6,
       0x1.55555d7a6766bp-6},
      {-0x1.24922a3a3bd03p-3, -0x1.015a3303edf0cp-3, -0x1.49d66333da6f5p-4, -0x1.7f63f4aa059bap-6, 0x1.cd66be201439ap-6,
       0x1.fdd5efefa8b78p-5, 0x1.350bd18de990ap-4, 0x1.248c597ad89bdp-4, 0x1.d3360e00cefadp-5, 0x1.3fac30073b4cep-5,
       0x1.6aeccfff4ebccp-6, 0x1.21fb92f5a252ep-7, -0x1.1f3e0eaa5450ap-12, -0x1.73f9f665589ffp-8, -0x1.0e763fac9c5f3p-7,
       -0x1.249bf7b59c123p-7},
      {0x0p+0, 0x1.fec1ddcb3244dp-5, 0x1.a0578fa2f86b1p-4, 0x1.b5a549e9fe98cp-4, 0x1.52b7189c4385fp-4,
       0x1.6931468ac4fbbp-5, 0x1.b8bc686970ae1p-8, -0x1.408d0a8eeb49p-6, -0x1.080ea56adec0bp-5, -0x1.14f2bc7b7dafbp-5,
       -0x1.d6763e4b93896p-6, -0x1.5817bc61e1fb7p-6, -0x1.b65353fcaea4p-7, -0x1.d674ef0eb3fa6p-8, -0x1.6bff217341bc3p-9,
       -0x1.fbca7c93ee7afp-22},
      {0x1.c61a2593e0d91p-4, 0x1.6f9ccc55a9b66p-4, 0x1.35f85f2c1528cp-5, -0x1.3655a27b6cd1fp-6, -0x1.d1760d0a36696p-5,
       -0x1.127c47e466f08p-4, -0x1.c198d57ebcbbbp-5, -0x1.09a1035acccd7p-5, -0x1.68ac46554efc7p-7, 0x1.fb0f3cdeeb2fap-9,
       0x1.84e5b14de6242p-7, 0x1.c0942b954cdafp-7, 0x1.8ba33bb8c0ec7p-7, 0x1.1743b33368a18p-7, 0x1.9ee5030b19d63p-8,
       0x1.01e02997bf9d3p-8},
      {0x0p+0, -0x1.e88243d440e82p-5, -0x1.6aac9ef355fa8p-4, -0x1.35dcefd138bf5p-4, -0x1.26ef38fcf537fp-5,
       0x1.0abd28442213dp-8, 0x1.d3c56f57812edp-6, 0x1.1cffb0e2d3d31p-5, 0x1.c40c4a172b3fap-6, 0x1.06e4c8a03680cp-6,
       0x1.b01706e66a96p-8, -0x1.1cb9fb6c90551p-13, -0x1.c290c69e0c87fp-9, -0x1.3877f46502f9dp-8, -0x1.fe552a48e2b8p-9,
       -0x1.7ef7ae15cd4e1p-9}};
};
// erfc(c + t) e^(c + t)^2 = v + t s for c + t from 0 to 10.3, by the two lowest bits of the exponent of 1 + c + t and
// the three highest of its mantissa: eight intervals for each power of two. By rows: c, v, then the coefficients of s
// from the constant one on: 2^-28.
alignas(64) inline constexpr float kErrorRestIntervals[7][32] = {
    {0x1.1ff1bp+0f,  0x1.60004p+0f,  0x1.a0080ep+0f, 0x1.e00f0cp+0f, 0x1.100942p+1f, 0x1.2ffbdp+1f,  0x1.5008f6p+1f,
     0x1.6feecep+1f, 0x1.9ff952p+1f, 0x1.dfe908p+1f, 0x1.0ff448p+2f, 0x1.2ff908p+2f, 0x1.4ffceap+2f, 0x1.6feef4p+2f,
     0x1.8ff21ep+2f, 0x1.afeafap+2f, 0x1.e00fecp+2f, 0x1.101436p+3f, 0x1.2fef2cp+3f, 0x1.44decap+3f, 0x1.6p+3f,
     0x1.8p+3f,      0x1.ap+3f,      0x1.cp+3f,      0x1.ffdep-5f,   0x1.7fff0ap-3f, 0x1.3fef6ap-2f, 0x1.c01154p-2f,
     0x1.200012p-1f, 0x1.5ff466p-1f, 0x1.9ffda6p-1f, 0x1.dff578p-1f},
    {0x1.953f82p-2f, 0x1.5f88c6p-2f, 0x1.357f42p-2f, 0x1.13de5ap-2f, 0x1.f0eecap-3f, 0x1.c39deap-3f, 0x1.9d6d68p-3f,
     0x1.7d1a7cp-3f, 0x1.54acacp-3f, 0x1.2a3858p-3f, 0x1.08f108p-3f, 0x1.dc6ab6p-4f, 0x1.b09ad2p-4f, 0x1.8c25dap-4f,
     0x1.6d3bep-4f,  0x1.52c832p-4f, 0x1.316a3ap-4f, 0x1.0df3b6p-4f, 0x1.e3f61cp-5f, 0x1.c51402p-5f, 0x0p+0f,
     0x0p+0f,        0x0p+0f,        0x0p+0f,        0x1.ddcf5cp-1f, 0x1.a36beep-1f, 0x1.73c722p-1f, 0x1.4c5e34p-1f,
     0x1.2b84e8p-1f, 0x1.0fd2eep-1f, 0x1.f073dap-2f, 0x1.c7fe42p-2f},
    {-0x1.e7a88p-3f,  -0x1.797a08p-3f, -0x1.2b0988p-3f, -0x1.e34e52p-4f, -0x1.8d59d8p-4f, -0x1.4bb63ap-4f,
     -0x1.1866c6p-4f, -0x1.dfe71p-5f,  -0x1.82b362p-5f, -0x1.2ac06cp-5f, -0x1.da5f54p-6f, -0x1.81253ep-6f,
     -0x1.3e9dacp-6f, -0x1.0bdc38p-6f, -0x1.c84aap-7f,  -0x1.893a02p-7f, -0x1.402fap-7f,  -0x1.f533a8p-8f,
     -0x1.933c78p-8f, -0x1.61a552p-8f, 0x0p+0f,         0x0p+0f,         0x0p+0f,         0x0p+0f,
     -0x1.03027ap+0f, -0x1.a472d6p-1f, -0x1.596a8p-1f,  -0x1.1edd3cp-1f, -0x1.e18aap-2f,  -0x1.980a68p-2f,
     -0x1.5cbe22p-2f, -0x1.2c8bdap-2f},
    {0x1.05fc76p-3f, 0x1.701284p-4f,  0x1.0a0b1ep-4f,  0x1.8a5428p-5f,  0x1.2ac3cep-5f, 0x1.cdd77cp-6f,  0x1.6ae59p-6f,
     0x1.21e43p-6f,  0x1.a7feb8p-7f,  0x1.231542p-7f,  0x1.9f27a2p-8f,  0x1.318f5ap-8f, 0x1.cdf6b6p-9f,  0x1.6563f2p-9f,
     0x1.19be34p-9f, 0x1.c3d994p-10f, 0x1.4ce71ap-10f, 0x1.ce3d4ep-11f, 0x1.4e335p-11f, 0x1.12c02ap-11f, 0x0p+0f,
     0x0p+0f,        0x0p+0f,         0x0p+0f,         0x1.bd712ap-1f,  0x1.54968cp-1f, 0x1.07db68p-1f,  0x1.9db118p-2f,
     0x1.482bbap-2f, 0x1.0727ecp-2f,  0x1.aa35f2p-3f,  0x1.5c82a6p-3f},
    {-0x1.014de4p-4f,  -0x1.4bcc1ap-5f,  -0x1.b9e94ap-6f, -0x1.2ee08ap-6f,  -0x1.a9f612p-7f,  -0x1.32b792p-7f,
     -0x1.c27054p-8f,  -0x1.516076p-8f,  -0x1.c26346p-9f, -0x1.146378p-9f,  -0x1.63a7c4p-10f, -0x1.dc4274p-11f,
     -0x1.49e38cp-11f, -0x1.d6b15ep-12f, -0x1.580ffp-12f, -0x1.011046p-12f, -0x1.5757dp-13f,  -0x1.a795bp-14f,
     -0x1.138db6p-14f, -0x1.a9206cp-15f, 0x0p+0f,         0x0p+0f,          0x0p+0f,          0x0p+0f,
     -0x1.46d00ep-1f,  -0x1.db7166p-2f,  -0x1.5ea294p-2f, -0x1.05d492p-2f,  -0x1.8becf4p-3f,  -0x1.2ee12ap-3f,
     -0x1.d4391ap-4f,  -0x1.6de21ap-4f},
    {0x1.d6db16p-6f,  0x1.18cf3p-6f,   0x1.5aee76p-7f,  0x1.ba6f4cp-8f,  0x1.224524p-8f,  0x1.873bfep-9f,
     0x1.0d7bc8p-9f,  0x1.7c065ap-10f, 0x1.d32118p-11f, 0x1.01456ep-11f, 0x1.2ba4d4p-12f, 0x1.6e0306p-13f,
     0x1.d1533ep-14f, 0x1.32b96p-14f,  0x1.a0527ap-15f, 0x1.221d04p-15f, 0x1.6144eep-16f, 0x1.83661ap-17f,
     0x1.c58ea6p-18f, 0x1.4a258cp-18f, 0x0p+0f,         0x0p+0f,         0x0p+0f,         0x0p+0f,
     0x1.a9925ap-2f,  0x1.286fbp-2f,   0x1.a2c134p-3f,  0x1.2b6d6ep-3f,  0x1.b23148p-4f,  0x1.3e7682p-4f,
     0x1.d844c4p-5f,  0x1.624b5cp-5f},
    {-0x1.92d19ep-7f,  -0x1.c02f9ap-8f,  -0x1.033e3ap-8f,  -0x1.320d32p-9f,  -0x1.7fb7fp-10f,  -0x1.da3f26p-11f,
     -0x1.2c3716p-11f, -0x1.a342ccp-12f, -0x1.d47b44p-13f, -0x1.d09a9ap-14f, -0x1.ef75f6p-15f, -0x1.13d4d2p-15f,
     -0x1.3e37f4p-16f, -0x1.8da4f8p-17f, -0x1.ebc6dcp-18f, -0x1.4edf22p-18f, -0x1.668072p-19f, -0x1.5e563ap-20f,
     -0x1.6ee782p-21f, 0x1.a8900ep-23f,  0x0p+0f,          0x0p+0f,          0x0p+0f,          0x0p+0f,
     -0x1.e7489ap-3f,  -0x1.52fbf2p-3f,  -0x1.c9a994p-4f,  -0x1.29c122p-4f,  -0x1.b790d6p-5f,  -0x1.266b28p-5f,
     -0x1.d7063p-6f,   -0x1.2c28dep-6f}};
#endif

}  // namespace tenon::HWY_NAMESPACE
#endif
