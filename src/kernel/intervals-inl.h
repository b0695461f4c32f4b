// kernel: tables of functions in intervals, 32 of float32 and 16 of float64, a row for each coefficient: AVX-512 looks
// up a lane's number in two registers, AVX2 one of eight float32 in one. Each is by interpolation, around a number
// whose value is nearly one of its type.
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
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// erfc(c + t) e^(c + t)^2 = v + t s for c + t from 0 to `farthest`, in intervals that grow with c: as many for each
// power of two of scale (c + t) + `start`, by the lowest bits of its exponent and the highest of its mantissa. By rows:
// c, v, then the coefficients of s from the constant one on: 2^-28, or 2^-57.
template <class T, int kIntervals>
struct ErrorRestIntervals;
template <>
struct ErrorRestIntervals<float, 8> {
  static constexpr float farthest = 10.2f, scale = 1.46f, start = 1;
  static constexpr int mantissa_bits = 1;
  alignas(64) static constexpr float rows[][8] = {
      {0x1.069668p+0f, 0x1.b5a432p+0f, 0x1.5ddae8p+1f, 0x1.06b9d6p+2f, 0x1.8a50d4p+2f, 0x1.1cc2cep+3f, 0x1.609068p-3f,
       0x1.0765bap-1f},
      {0x1.aebfeep-2f, 0x1.295562p-2f, 0x1.8ecd36p-3f, 0x1.11c51cp-3f, 0x1.725206p-4f, 0x1.02147cp-4f, 0x1.a9f4a4p-1f,
       0x1.377a9ep-1f},
      {-0x1.0fcad2p-2f, -0x1.15b5d4p-3f, -0x1.05c11ap-4f, -0x1.f9bf84p-6f, -0x1.d4f02p-7f, -0x1.ca584p-8f,
       -0x1.af12cp-1f, -0x1.01402cp-1f},
      {0x1.2fed58p-3f, 0x1.dfa50ap-5f, 0x1.48a91p-6f, 0x1.c8114cp-8f, 0x1.2566b6p-9f, 0x1.949256p-11f, 0x1.5fbf06p-1f,
       0x1.664616p-2f},
      {-0x1.351db6p-4f, -0x1.83d4p-6f, -0x1.8c8f66p-8f, -0x1.921d7cp-10f, -0x1.6af52ap-12f, -0x1.630272p-14f,
       -0x1.ee06d6p-2f, -0x1.b84038p-3f},
      {0x1.22c8d6p-5f, 0x1.284888p-7f, 0x1.cd83c6p-10f, 0x1.5b1b78p-12f, 0x1.bc0644p-15f, 0x1.35b7d4p-17f,
       0x1.35390ap-2f, 0x1.ea0fbap-4f},
      {-0x1.ffbdbcp-7f, -0x1.ae8cep-9f, -0x1.037afap-11f, -0x1.258a84p-14f, -0x1.0c1576p-17f, -0x1.0c8268p-20f,
       -0x1.609d5ep-3f, -0x1.f6b12ep-5f},
      {0x1.a9435cp-8f, 0x1.2b486cp-10f, 0x1.1ba23ep-13f, 0x1.e77ac4p-17f, 0x1.412c5p-20f, 0x1.cf515ep-24f,
       0x1.73cbfcp-4f, 0x1.e0f9f4p-6f},
      {-0x1.5ab096p-9f, -0x1.990c24p-12f, -0x1.4064a6p-15f, -0x1.9c8f8ap-19f, -0x1.9daaecp-23f, -0x1.9efed2p-27f,
       -0x1.72dc06p-5f, -0x1.b58f98p-7f},
      {0x1.037dc8p-10f, 0x1.04f518p-13f, 0x1.461aaep-17f, 0x1.47e06ep-21f, 0x1.e30b56p-26f, 0x1.6054fap-30f,
       0x1.591cc2p-6f, 0x1.75f31cp-8f}};
};
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
template <>
struct ErrorRestIntervals<float, 32> {
  static constexpr float farthest = 10.2f, scale = 1, start = 1;
  static constexpr int mantissa_bits = 3;
  alignas(64) static constexpr float rows[][32] = {
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
      {0x1.05fc76p-3f, 0x1.701284p-4f,  0x1.0a0b1ep-4f, 0x1.8a5428p-5f,  0x1.2ac3cep-5f,  0x1.cdd77cp-6f,
       0x1.6ae59p-6f,  0x1.21e43p-6f,   0x1.a7feb8p-7f, 0x1.231542p-7f,  0x1.9f27a2p-8f,  0x1.318f5ap-8f,
       0x1.cdf6b6p-9f, 0x1.6563f2p-9f,  0x1.19be34p-9f, 0x1.c3d994p-10f, 0x1.4ce71ap-10f, 0x1.ce3d4ep-11f,
       0x1.4e335p-11f, 0x1.12c02ap-11f, 0x0p+0f,        0x0p+0f,         0x0p+0f,         0x0p+0f,
       0x1.bd712ap-1f, 0x1.54968cp-1f,  0x1.07db68p-1f, 0x1.9db118p-2f,  0x1.482bbap-2f,  0x1.0727ecp-2f,
       0x1.aa35f2p-3f, 0x1.5c82a6p-3f},
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
};
template <>
struct ErrorRestIntervals<double, 16> {
  static constexpr double farthest = 27.3, scale = 1.0925, start = 2;
  static constexpr int mantissa_bits = 2;
  alignas(64) static constexpr double rows[][16] = {
      {0x1.d3be9236032d9p-3, 0x1.5ef9a63b760a3p-1, 0x1.2480ef0725d0dp+0, 0x1.9a4b930751fb7p+0, 0x1.24d16f94eafe8p+1,
       0x1.9a19f00797dfbp+1, 0x1.0794f4adfe08p+2, 0x1.42264d6082a52p+2, 0x1.99feda3ee7fa5p+2, 0x1.07aa44868c35dp+3,
       0x1.422d9c5f89922p+3, 0x1.7ce22dfe38313p+3, 0x1.d48c9891471acp+3, 0x1.24f3a9c5cfa27p+4, 0x1.5fa0aa7e108fdp+4,
       0x1.9a294452f2356p+4},
      {0x1.92c832a08e145p-1, 0x1.1036f88c9369cp-1, 0x1.90f24d14e7f8fp-2, 0x1.38e19034884b6p-2, 0x1.d28975b86f096p-3,
       0x1.592a984a9277p-3, 0x1.10ed50d9cb881p-3, 0x1.c287a6463f185p-4, 0x1.647d57e442391p-4, 0x1.16721fc0137d1p-4,
       0x1.c8d3e68a57426p-5, 0x1.82f2dc1400247p-5, 0x1.3aebfd63a73dp-5, 0x1.f81b9bcbbb9a2p-6, 0x1.a42da2bd683dp-6,
       0x1.6850454f76886p-6},
      {-0x1.89bf27496bd0fp-1, -0x1.990c97fb039a2p-2, -0x1.de726a6222441p-3, -0x1.31152d31e654dp-3,
       -0x1.60c3917edb7e8p-4, -0x1.8c9b955d9dcf2p-5, -0x1.f6b6397edc49dp-6, -0x1.591c52947ad71p-6,
       -0x1.b2f11546ba5b5p-7, -0x1.0a820a0bbbe7ep-7, -0x1.677ee1975ee6p-8, -0x1.0245b7b37d097p-8, -0x1.568a10bd9c9ccp-9,
       -0x1.b7379e9e305d9p-10, -0x1.31471766d4274p-10, -0x1.c11807935bb1bp-11},
      {0x1.38da9873081b2p-1, 0x1.0806e1c60f41fp-2, 0x1.fe7241c505579p-4, 0x1.119a4b360bb26p-4, 0x1.f84e52bf99227p-6,
       0x1.b7dea27003c59p-7, 0x1.c40eacdaa9ea9p-8, 0x1.03e63e39af6f5p-8, 0x1.06686cb3be723p-9, 0x1.faa2de5e79c6fp-11,
       0x1.19907933e2d59p-11, 0x1.5797b955772d1p-12, 0x1.73ba439398d2ap-13, 0x1.7e1dcca287567p-14,
       0x1.bb23d2819db28p-15, 0x1.17a9c7d100916p-15},
      {-0x1.adb9983648b73p-2, -0x1.3014336e91fa5p-3, -0x1.f2373aafa554cp-5, -0x1.c9c14194c2da1p-6,
       -0x1.572decf0c9e0dp-7, -0x1.d855878116f0ap-9, -0x1.8d813935eb506p-10, -0x1.812721b453a58p-11,
       -0x1.39405b866ca1bp-12, -0x1.de4c4fde0709bp-14, -0x1.b6ff95e53a48dp-15, -0x1.c78cdfe00fe1p-16,
       -0x1.927cd8f715966p-17, -0x1.4bf3ac6b2ec52p-18, -0x1.414d1c3ea8e86p-19, -0x1.5c0ba28daca17p-20},
      {0x1.07c801157ff7fp-2, 0x1.3f9bafd6a8599p-4, 0x1.c3a297cce163ep-6, 0x1.68c2874aa899bp-7, 0x1.bf14b9a7da945p-9,
       0x1.ec51ba8b6e162p-11, 0x1.563d038ee57e7p-12, 0x1.18fd1eaca42cbp-13, 0x1.7212e45220687p-15,
       0x1.c08b3395fe28ap-17, 0x1.54a819109eaa9p-18, 0x1.2cfb4491bb61fp-19, 0x1.b2cf9793528fbp-21,
       0x1.1ff3c39fd45bep-22, 0x1.d1729a9f72da1p-24, 0x1.b0d28a35c4156p-25},
      {-0x1.2795744334f6ep-3, -0x1.3740e88b0dee3p-5, -0x1.80513a96a4ffp-7, -0x1.0dd9f83d0a742p-8,
       -0x1.17f71eee4564cp-10, -0x1.f32db54e67571p-13, -0x1.20d5cdeebe953p-14, -0x1.93ef87ed8eda3p-16,
       -0x1.b0ce4d35d58b6p-18, -0x1.a1e5bc98b1be9p-20, -0x1.0725460906fcp-21, -0x1.8c653d3aefe42p-23,
       -0x1.d4ada264b1419p-25, -0x1.f2d7f302f9ae1p-27, -0x1.50c9f38034fcdp-28, -0x1.0cec352d2f1e7p-29},
      {0x1.32b3ddb5a322fp-4, 0x1.1be6d30f4f597p-6, 0x1.356f50e15fb8p-8, 0x1.815dbc3a9dcdap-10, 0x1.5244d4449378bp-12,
       0x1.ed447893a10b5p-15, 0x1.de6338d01336fp-17, 0x1.1e38193a985bcp-18, 0x1.f538bc0e0a7cep-21,
       0x1.82da5e1e7d05bp-23, 0x1.94b8c7d7fb9f3p-25, 0x1.042b78b5558bbp-26, 0x1.f80f55cc6b1fcp-29,
       0x1.af78163f2eb25p-31, 0x1.e6e4d45c96db8p-33, 0x1.4decf602367e8p-34},
      {-0x1.29c85856912a8p-5, -0x1.e90540ed5fb03p-8, -0x1.da5f9737abaa7p-10, -0x1.07deda1b9a075p-11,
       -0x1.8b748cbca6873p-14, -0x1.dbcd34e8b0ec9p-17, -0x1.851851bef3fp-19, -0x1.90139ea84aacdp-21,
       -0x1.1f76c9655e548p-23, -0x1.63dd3cc7926adp-26, -0x1.35dbc92fc67bep-28, -0x1.546822268f69ep-30,
       -0x1.0e7513ddc9944p-32, -0x1.74a824f2a56b3p-35, -0x1.5f982840918f3p-37, -0x1.9e54bb93dc972p-39},
      {0x1.10b27b4d2cbf7p-6, 0x1.903121821e134p-9, 0x1.5bdca82af7751p-11, 0x1.5bd2a944fe2a5p-13, 0x1.c06a5f6617d82p-16,
       0x1.c0a428e4cebf9p-19, 0x1.37135b1729daep-21, 0x1.13eea40ff877fp-23, 0x1.46ae270fb06dap-26,
       0x1.4556421ab8db7p-29, 0x1.d863f94b982ebp-32, 0x1.bbf3b33590bf5p-34, 0x1.21984c2a22708p-36,
       0x1.4166446a83177p-39, 0x1.fb45eb27d39bfp-42, 0x1.00db5aa22b923p-43},
      {-0x1.da07d3035d5e5p-8, -0x1.38c2a2ce98d6p-10, -0x1.ea076e3410738p-13, -0x1.baaf716da441bp-15,
       -0x1.ee3b91387c44cp-18, -0x1.9e0b151552c94p-21, -0x1.e94a596e9966p-24, -0x1.77c86011ce4cdp-26,
       -0x1.6fe5af627b846p-29, -0x1.27a0166d29cc2p-32, -0x1.66897e745e122p-35, -0x1.209255ef3c2f6p-37,
       -0x1.3569e7663f224p-40, -0x1.14cc2054f39bfp-43, -0x1.6d93130faf579p-46, -0x1.3e3b052372544p-48},
      {0x1.890298f5e829ap-9, 0x1.d4ca355dc0dfcp-12, 0x1.4c9e25f74713cp-14, 0x1.10b7a41b30f89p-16, 0x1.09381df639a9ep-19,
       0x1.76688bf06e7c3p-23, 0x1.7ac90d3631985p-26, 0x1.f97a3f8109cafp-29, 0x1.9aa8185908b58p-32,
       0x1.0b064af7a1858p-35, 0x1.0ef72f62fdc48p-38, 0x1.75f5715a95daap-41, 0x1.49de2d3ea9002p-44,
       0x1.dc17386f193e8p-48, 0x1.07317ce510e07p-50, 0x1.89f9ea3bfb404p-53},
      {-0x1.380981f783e05p-10, -0x1.520342cfb46eep-13, -0x1.b45261dc52f28p-16, -0x1.45ff332fa1b1fp-18,
       -0x1.1565e9eeafa15p-21, -0x1.4bed1375f261fp-25, -0x1.20c3168a5a533p-28, -0x1.4fdffc957d59cp-31,
       -0x1.c5e64d73174ep-35, -0x1.df4cfd371204ep-39, -0x1.97bd00dae7b4p-42, -0x1.e305a76143977p-45,
       -0x1.5e89799cf0397p-48, -0x1.98ab7e6efc8fbp-52, -0x1.7a81606bd7a31p-55, -0x1.e7547c79bf0abp-58},
      {0x1.dc6a98b15932bp-12, 0x1.d68694774b5a6p-15, 0x1.154a3577dd2e2p-17, 0x1.7ada84cf020cap-20,
       0x1.1ba7ee466114dp-23, 0x1.210217037a0aap-27, 0x1.b207d19c54f27p-31, 0x1.b94b006c672d4p-34, 0x1.f225c1447556p-38,
       0x1.abe19f537d82ep-42, 0x1.3195fa3177134p-45, 0x1.3700a5e39a112p-48, 0x1.74293e0d7dee6p-52,
       0x1.5e70fc88bd1efp-56, 0x1.0fedc30c5e174p-59, 0x1.2d33b3d216cb8p-62},
      {-0x1.669d69ae21664p-13, -0x1.42e5cbd0de9e2p-16, -0x1.5ba18c0e931b8p-19, -0x1.b2b50f7c0b04bp-22,
       -0x1.284d6890b760cp-25, -0x1.fec0526b6216ap-30, -0x1.4994f78276342p-33, -0x1.241a481b5200dp-36,
       -0x1.1e2f66bd7b55ep-40, -0x1.89d882ac5a5cfp-45, -0x1.d3f34befe0dbfp-49, -0x1.96ea8068534d6p-52,
       -0x1.9f5fbe04fbc9p-56, -0x1.36842f3d7fe85p-60, -0x1.8fd5f9332aac6p-64, -0x1.7ab10a6e15786p-67},
      {0x1.fc5c83ba31de8p-15, 0x1.a34b11e340f45p-18, 0x1.9e17b7a769e5ep-21, 0x1.e1226cc8e28ffp-24,
       0x1.20e41b4a08d0ep-27, 0x1.ad7c4eca4d212p-32, 0x1.e0f5f00f3dff4p-36, 0x1.76991845a2f6dp-39,
       0x1.340b22617b07fp-43, 0x1.5c5c84841821cp-48, 0x1.5b843a11f60bep-52, 0x1.0557c0f4282e6p-55,
       0x1.b5b38c39a3b8fp-60, 0x1.0a15e67b57474p-64, 0x1.204959252aaa7p-68, 0x1.d4e599f3bc341p-72}};
};
// tanh(c + t) = v + t (a1 + t s) for c + t from 0 to 20.4, by the two lowest bits of the exponent of 1.1 (c + t) + 3/2
// and the two highest of its mantissa. By rows: c, v, a1, then the coefficients of s from the constant one on: 2^-58.
// Where c is 0, odd terms alone.
alignas(64) inline constexpr double kWideTanhIntervals[][16] = {
    {0x1.5e1fa3eda8bc4p-1, 0x1.22ba366129aa2p+0, 0x1.96c497a30e52ep+0, 0x1.059b8f3d90a7p+1, 0x1.5d329913efaa3p+1,
     0x1.d1c08c95e0123p+1, 0x1.231c25d38b3c5p+2, 0x1.5d0d8b29f5b2cp+2, 0x1.b3fa1f93bb44cp+2, 0x1.147338588d983p+3,
     0x1.4e7aaf0a28d61p+3, 0x1.88bf1055a9709p+3, 0x1.e07fa3c7a0528p+3, 0x1.2a782ec7dec47p+4, 0x0p+0,
     0x1.5da83ad98fe06p-2},
    {0x1.3021af0fb9f1dp-1, 0x1.a03a625764ef7p-1, 0x1.d7086f53cfc89p-1, 0x1.ef1a09d290c5ep-1, 0x1.fba57bf00007dp-1,
     0x1.ff4afc1940056p-1, 0x1.ffe2a5f57144ep-1, 0x1.fffb33100ba79p-1, 0x1.ffffaebfbff4dp-1, 0x1.fffffde5740cp-1,
     0x1.fffffff1aca1dp-1, 0x1.ffffffff9fe2dp-1, 0x1.ffffffffff99ep-1, 0x1.fffffffffffffp-1, 0x0p+0,
     0x1.50ac3cd73eeb9p-2},
    {0x1.4b57fde6064eap-1, 0x1.5b42331342951p-2, 0x1.3a9fec24e78a7p-3, 0x1.09e92d76d3f39p-4, 0x1.1571c1e608083p-6,
     0x1.69c7ce3dc7e78p-9, 0x1.d59332d372f31p-12, 0x1.333a8c5d2cf03p-14, 0x1.4500e66307b28p-18, 0x1.0d45f97267ff8p-23,
     0x1.ca6bc5f890da2p-29, 0x1.8074c06da8142p-34, 0x1.987ff08bcc4c8p-42, 0x1.210126201becdp-52, 0x1p+0,
     0x1.c8a76d8d25647p-1},
    {-0x1.89a4166e6387cp-2, -0x1.1a4d62b261436p-2, -0x1.21734ca4cfe12p-3, -0x1.01227565a6135p-4, -0x1.1315d1d327034p-6,
     -0x1.6947e659a6f1fp-9, -0x1.d578476883426p-12, -0x1.3337aaeec3d54p-14, -0x1.4500b2cf9af94p-18,
     -0x1.0d45f8572c527p-23, -0x1.ca6bc5ebbe07ep-29, -0x1.8074c06d608edp-34, -0x1.987ff0bf4e56p-42,
     -0x1.21012644aedf9p-52, 0x0p+0, -0x1.2c477e670737ep-2},
    {0x1.9dbfe1bf68b3ep-7, 0x1.c6f955f41aee4p-4, 0x1.42d4b8ba1c232p-4, 0x1.4005aa0df6499p-5, 0x1.68878786c64dcp-7,
     0x1.e060788818acp-10, 0x1.38d6f7422969dp-12, 0x1.9997e025c0e53p-15, 0x1.b155ba366511ep-19, 0x1.6707f2d645405p-24,
     0x1.319d2e8c0e97dp-29, 0x1.004dd59ddfd6dp-34, 0x1.10554b2938c25p-42, 0x1.8156ddb57df6bp-53, -0x1.5555555555554p-2,
     -0x1.9b6b4e1580c5bp-3},
    {0x1.ee2223c73e3dfp-4, 0x1.a22db2ade4996p-10, -0x1.a021e418b9c05p-6, -0x1.1412e42429246p-6, -0x1.5c25b4de7e62ap-8,
     -0x1.ddb81266a585fp-11, -0x1.388f35dc29d98p-13, -0x1.998883735f132p-16, -0x1.b154a72417fd9p-20,
     -0x1.6707ecef5ca1cp-25, -0x1.319d2e6994ce2p-30, -0x1.004dd59ce491cp-35, -0x1.105546940b4c7p-43,
     -0x1.8156d73245a8bp-54, 0x0p+0, 0x1.4f7412b0f5501p-3},
    {-0x1.f7b492b525f19p-5, -0x1.f868d54f19757p-6, 0x1.0a7fae322391p-11, 0x1.3500930a6a02ep-8, 0x1.02fdd27e3e844p-9,
     0x1.79eec1e38ea4fp-12, 0x1.f332ce50de887p-15, 0x1.4787d53c0b5cbp-17, 0x1.5aa86734495a2p-21, 0x1.1f3980e83873ap-26,
     0x1.e8fb7d08bb6b2p-32, 0x1.9a162292724d6p-37, 0x1.b3bba49a7e83ap-45, 0x1.344578c9378b2p-55, 0x1.111111110ff4fp-3,
     0x1.0dc2b2550d35fp-5},
    {-0x1.90cb1c31b3573p-7, 0x1.2cf8a0f185639p-6, 0x1.3e5d69eb5629dp-8, -0x1.6218b77f2c146p-12, -0x1.266165ca9b919p-11,
     -0x1.eca2e10430486p-14, -0x1.4b9aab7b23f1fp-16, -0x1.b473936620c3cp-19, -0x1.ce314975b0b7p-23,
     -0x1.7ef73d7f91274p-28, -0x1.45fcfd90516e1p-33, -0x1.1164172121764p-38, -0x1.227d90951197fp-46,
     -0x1.9b07f68265202p-57, 0x0p+0, -0x1.26ac5dcc217d9p-4},
    {0x1.b4ff643892817p-6, -0x1.7ed415bf6859bp-9, -0x1.a509bc7d9ec6p-9, -0x1.0db1912df9555p-11, 0x1.bfa122df6b343p-14,
     0x1.0cb08c54f6068p-15, 0x1.783f60a46e68p-18, 0x1.f23774d7d55acp-21, 0x1.0816ec968aafep-24, 0x1.b5ac9efe01873p-30,
     0x1.748ed73aafb8cp-35, 0x1.3872637e682dbp-40, 0x1.4bfd32d6a2caap-48, 0x1.d5bfff05c79dbp-59, -0x1.ba1ba1b4bdd3cp-5,
     0x1.9e7fc7605fcacp-8},
    {-0x1.0f0e6b02ca20bp-7, -0x1.9a3fcd7978b1cp-9, 0x1.18aa66355684cp-10, 0x1.824b51451ca46p-12, -0x1.3a457bf7c0288p-20,
     -0x1.e68471043ffc5p-18, -0x1.72cc1990481afp-20, -0x1.f10bf90e25118p-23, -0x1.080c6b8ee404ap-26,
     -0x1.b5ac1fbb5f34dp-32, -0x1.748eca5f05606p-37, -0x1.38725ac5c4e92p-42, -0x1.4bf25bfb0cf9cp-50,
     -0x1.d5b097cbc8773p-61, 0x0p+0, 0x1.aca1d2d694292p-6},
    {-0x1.56f7b9e9ad69dp-8, 0x1.5e0a873eb25d4p-9, -0x1.384e9f259cd46p-15, -0x1.385633e8b063fp-13,
     -0x1.566fdd6645defp-17, 0x1.571d6b11b90f7p-20, 0x1.3fed3c60f6bf5p-22, 0x1.b7bd814e43246p-25, 0x1.d54636da8bddap-29,
     0x1.8509fbdba4164p-34, 0x1.4b29995dfac8dp-39, 0x1.15bafe526f32bp-44, 0x1.271052a6a35e2p-52, 0x1.a17f8c78a67a6p-63,
     0x1.664f43a3cbb3cp-6, -0x1.32d72d784cd6cp-7},
    {0x1.588e84141b29fp-8, -0x1.999a187ae15f5p-11, -0x1.903779ca05e9bp-13, 0x1.2ebed56dffe12p-15, 0x1.7fe9a30793ef5p-18,
     -0x1.0c35dc290eeb2p-23, -0x1.e10608db3651ap-25, -0x1.5c7798fd5855bp-27, -0x1.77322f3262aacp-31,
     -0x1.373c289043493p-36, -0x1.08eff29e6356p-41, -0x1.bc6197e91b2e2p-47, -0x1.d91ade57f35bbp-55,
     -0x1.4eb60f10539bfp-65, 0x0p+0, -0x1.f54d080b8a69cp-8},
    {-0x1.5d9fcf8b1ed7p-11, -0x1.f459d6badb907p-13, 0x1.0e5bc6c81c4e1p-13, 0x1.cf1087baed14ep-23,
     -0x1.1bc1a130308bep-19, -0x1.94623f6d1b0e3p-26, 0x1.3124ce8c06934p-27, 0x1.f1320063b8b9fp-30,
     0x1.1086391a00175p-33, 0x1.c4b09048fd464p-39, 0x1.815b6855cdae6p-44, 0x1.432f039460b0cp-49, 0x1.5817dc07fcddbp-57,
     0x1.e6efa5d3eff6ep-68, -0x1.226c19823057ap-7, 0x1.71fc9d9aed397p-8},
    {-0x1.849b776935a4cp-10, 0x1.71a5e63c24075p-12, -0x1.6fe6c52d1d72ap-15, -0x1.75403869f3745p-18,
     0x1.3b875a3c34138p-21, 0x1.40be5ec221a62p-26, -0x1.20bdc4f512548p-30, -0x1.3e989193f53d3p-32,
     -0x1.69fb5730b46bbp-36, -0x1.2d53ff50a65d9p-41, -0x1.008735b32fad6p-46, -0x1.ae46ce701f013p-52,
     -0x1.be12c17bbd1dfp-60, -0x1.3b96971fd65f7p-70, 0x0p+0, 0x1.80f05dd067dbap-10},
    {0x1.e0b352042d237p-11, -0x1.394f4523a69dfp-13, 0x1.15ee9eb69e01ep-19, 0x1.c6dc0c8c60723p-19,
     -0x1.d8e36135003b3p-24, -0x1.e97694181f845p-28, 0x1.0d22d7da59d33p-35, 0x1.68824db543183p-35,
     0x1.bbb859a18f894p-39, 0x1.72d8ae073cfefp-44, 0x1.3be672d1d6b55p-49, 0x1.08dc8a2cb9abp-54, 0x1.124166e1e6187p-62,
     0x1.839adf7a0ef3ep-73, 0x1.d5e31b118e30dp-9, -0x1.51341f143182fp-9},
    {0x1.aacd5784b595bp-14, -0x1.0dd176dcb8f93p-17, 0x1.059d3884f4127p-17, -0x1.4d27c11d1717ap-20,
     -0x1.eb05679ae2001p-29, 0x1.2da42f455a8fap-29, 0x1.3b6a03c0729c5p-35, -0x1.5283e7bc0618dp-38,
     -0x1.077abab2f455dp-41, -0x1.beba064c20a6p-47, -0x1.7c76ccef3614dp-52, -0x1.3f1839843541fp-57,
     -0x1.8b8b7efbf872fp-65, -0x1.17d501e8af957p-75, 0x0p+0, 0x1.9985b902480b6p-14},
    {-0x1.6590b4d72b3a2p-12, 0x1.61ffbd23bb2dcp-15, -0x1.5825566f20fdbp-18, 0x1.095b3ec1a973ap-22,
     0x1.a32d8e814dfcap-27, -0x1.296d3c9530347p-31, -0x1.07577f2813e7dp-36, 0x1.91f7817fda834p-42,
     0x1.0e135ef39eefdp-44, 0x1.dbc12a017d7f3p-50, 0x1.91d38afed400fp-55, 0x1.52b126552f6f7p-60, 0x1.a813ade6e3759p-68,
     0x1.2d60d525a9cdbp-78, -0x1.62d37ec7fd51ap-10, 0x1.f4560cb4e9b42p-11}};
#endif

}  // namespace tenon::HWY_NAMESPACE
#endif
