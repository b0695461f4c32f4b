// kernel: functions by pieces, of whole vectors with AVX2 and AVX-512: the lane's interval looks up the coefficients of
// its own polynomial. One register holds a coefficient of all eight or 16 intervals, so there is no table in memory to
// gather from. Polynomials are minimax, rounded. They begin at a number whose result needs all but no rounding, so that
// the error is little more than that of the last addition.
#if defined(TENON_KERNEL_PIECES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_PIECES_INL_H
#undef TENON_KERNEL_PIECES_INL_H
#else
#define TENON_KERNEL_PIECES_INL_H
#endif

#include <cstdint>
#include <iterator>
#include <limits>

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"

#if TENON_HAS_POWER_TABLE
HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The polynomial of the interval whose number is in the low bits of `interval`, at x. Rows: where it begins, then its
/// coefficients from the constant one on.
template <class V, class T, std::size_t kRows, std::size_t kIntervals>
HWY_INLINE V piece(V x, V interval, const T (&rows)[kRows][kIntervals]) {
  const V from_start = hn::Sub(x, looked_up(interval, rows[0]));
  V sum = looked_up(interval, rows[kRows - 1]);
  for (std::size_t row = kRows - 2; row > 0; --row) sum = hn::MulAdd(sum, from_start, looked_up(interval, rows[row]));
  return sum;
}

/// erf(size) for 0 <= size <= `farthest`, in equal intervals: less `size` up to the interval `last_small`, where that
/// is the larger part.
template <class T, int kIntervals>
struct ErrorPieces;
template <>
struct ErrorPieces<float, 8> {
  static constexpr float farthest = 3.94f, intervals = 0x1.e61372p+0f, last_small = 1;
  alignas(64) static constexpr float rows[][8] = {
      {0x0p+0f, 0x1.0d3bep-1f, 0x1.0ba93p+0f, 0x1.916106p+0f, 0x1.0d2c88p+1f, 0x1.4e6a42p+1f, 0x1.921cfp+1f,
       0x1.d7e4b2p+1f},
      {0x0p+0f, 0x1.17afc8p-6f, 0x1.b8b5bp-1f, 0x1.f26162p-1f, 0x1.fe7eb2p-1f, 0x1.ffe328p-1f, 0x1.fffed6p-1f,
       0x1.fffffap-1f},
      {0x1.06eba8p-3f, -0x1.2758fp-3f, 0x1.8340ccp-2f, 0x1.8b8d0cp-4f, 0x1.bbf31cp-7f, 0x1.4111fep-10f, 0x1.e9d952p-15f,
       0x1.7af1fcp-20f},
      {0x0p+0f, -0x1.ccd044p-2f, -0x1.94e49ap-2f, -0x1.3616f8p-3f, -0x1.d2cb5ap-6f, -0x1.a36b5ep-9f, -0x1.80b962p-13f,
       -0x1.c89392p-18f},
      {-0x1.81272ap-2f, -0x1.051ffp-3f, 0x1.3246fp-3f, 0x1.0232c8p-3f, 0x1.223758p-5f, 0x1.5280dap-8f, 0x1.7e6adep-12f,
       0x1.9d6e34p-17f},
      {0x0p+0f, 0x1.77c818p-3f, 0x1.b77c74p-5f, -0x1.8c24a6p-5f, -0x1.c6d2aep-6f, -0x1.743f7ap-8f, -0x1.0c1048p-11f,
       0x1.524b9cp-15f},
      {0x1.ce0ecap-4f, -0x1.76048ep-12f, -0x1.1379b8p-4f, -0x1.eb0ff8p-8f, 0x1.a0a592p-7f, 0x1.1f7b8p-8f,
       0x1.18712cp-11f, 0x1.c83218p-16f},
      {0x0p+0f, -0x1.86f946p-5f, 0x1.14c16ep-7f, 0x1.10914cp-6f, -0x1.5b95d4p-10f, -0x1.2e6f1cp-9f, -0x1.c8770ap-12f,
       -0x1.43ba9ap-11f},
      {-0x1.ac79c6p-6f, 0x1.d3ab26p-8f, 0x1.a432b8p-7f, -0x1.6f7d66p-8f, -0x1.15c436p-9f, 0x1.60b2bep-11f,
       0x1.f8f24ep-13f, 0x1.926b62p-16f},
  };
};
template <>
struct ErrorPieces<float, 16> {
  static constexpr float farthest = 3.94f, intervals = 0x1.f6474ap+1f, last_small = 2;
  alignas(64) static constexpr float rows[][16] = {
      {0x0p+0f, 0x1.0b03cap-2f, 0x1.071602p-1f, 0x1.8879ep-1f, 0x1.045e2p+0f, 0x1.440c44p+0f, 0x1.8652bep+0f,
       0x1.cb0326p+0f, 0x1.045e2p+1f, 0x1.246b04p+1f, 0x1.45361ap+1f, 0x1.6823b2p+1f, 0x1.88a66ap+1f, 0x1.a6e098p+1f,
       0x1.ca100ep+1f, 0x1.ea8ffep+1f},
      {0x0p+0f, 0x1.b9664ep-6f, 0x1.32ffaap-6f, 0x1.717e5ep-1f, 0x1.b30704p-1f, 0x1.da66f6p-1f, 0x1.f0186p-1f,
       0x1.fa411cp-1f, 0x1.fdf14p-1f, 0x1.ff5e32p-1f, 0x1.ffd52cp-1f, 0x1.fff6eep-1f, 0x1.fffe1ep-1f, 0x1.ffff9cp-1f,
       0x1.fffff2p-1f, 0x1.fffffep-1f},
      {0x1.06eba8p-3f, 0x1.bc0ef4p-5f, -0x1.11546cp-3f, 0x1.4104e2p-1f, 0x1.9ab0d6p-2f, 0x1.d1810ap-3f, 0x1.c4120cp-4f,
       0x1.733782p-5f, 0x1.27101ap-6f, 0x1.904398p-8f, 0x1.d11416p-10f, 0x1.af9328p-12f, 0x1.839a68p-14f,
       0x1.585c46p-16f, 0x1.9f6982p-19f, 0x1.fa3b34p-22f},
      {0x0p+0f, -0x1.197d16p-2f, -0x1.c7f2bp-2f, -0x1.ec2852p-2f, -0x1.a1b298p-2f, -0x1.269ecep-2f, -0x1.58a2cep-3f,
       -0x1.4ccc9ap-4f, -0x1.2c18d6p-5f, -0x1.c933eep-7f, -0x1.276774p-8f, -0x1.2f940cp-10f, -0x1.293e7ep-12f,
       -0x1.1c5c44p-14f, -0x1.73733ap-17f, -0x1.e398b4p-20f},
      {-0x1.81263cp-2f, -0x1.36e63ap-2f, -0x1.172e14p-3f, 0x1.2bf2a4p-5f, 0x1.24a1b2p-3f, 0x1.56137ep-3f,
       0x1.12f7c4p-3f, 0x1.4ff14ap-4f, 0x1.65c884p-5f, 0x1.3acf1ap-6f, 0x1.cd9b14p-8f, 0x1.0ab834p-9f, 0x1.1fc7e8p-11f,
       0x1.2ad97cp-13f, 0x1.a9f9ep-16f, 0x1.2b38e8p-18f},
      {0x0p+0f, 0x1.0caf16p-3f, 0x1.77a9d4p-3f, 0x1.2b603p-3f, 0x1.034ae4p-4f, -0x1.417244p-7f, -0x1.7af2eep-5f,
       -0x1.7c76c8p-5f, -0x1.07d922p-5f, -0x1.1b863cp-6f, -0x1.e886b2p-8f, -0x1.43d73ep-9f, -0x1.882784p-11f,
       -0x1.c2c074p-13f, -0x1.649df6p-15f, -0x1.234ff8p-17f},
      {0x1.cb8346p-4f, 0x1.3b5f3ap-4f, 0x1.b8309cp-9f, -0x1.c4e16p-5f, -0x1.176852p-4f, -0x1.712b7ep-5f,
       -0x1.8fbf38p-7f, 0x1.193536p-7f, 0x1.aae22ep-7f, 0x1.48c9p-7f, 0x1.6611a8p-8f, 0x1.1e9e46p-9f, 0x1.8df896p-11f,
       0x1.f9126ap-13f, 0x1.bb7c8ep-15f, 0x1.723b08p-17f},
      {0x0p+0f, -0x1.4b7f18p-5f, -0x1.8f332ap-5f, -0x1.9a3dc6p-6f, 0x1.a29958p-8f, 0x1.62236ep-6f, 0x1.2ba744p-6f,
       0x1.e024f6p-8f, -0x1.46134cp-12f, -0x1.67a0ep-9f, -0x1.297b68p-9f, -0x1.ab33cep-10f, -0x1.29049ap-11f,
       -0x1.043bf8p-13f, -0x1.c4a398p-16f, 0x1.c9e354p-17f},
  };
};
template <>
struct ErrorPieces<double, 16> {
  static constexpr double farthest = 5.94, intervals = 0x1.4d72044d72045p+1, last_small = 2;
  alignas(64) static constexpr double rows[][16] = {
      {0x0p+0, 0x1.8636e0365fad6p-2, 0x1.87418b3ed937p-1, 0x1.2666713958bd9p+0, 0x1.88c639aa98da2p+0,
       0x1.eb15a7ec3bc67p+0, 0x1.26589b110ecfdp+1, 0x1.575770bad74d3p+1, 0x1.88a301440b371p+1, 0x1.b983059417c5dp+1,
       0x1.eb4a7c86103b1p+1, 0x1.0e06283f1ad5ep+2, 0x1.2685429314ac4p+2, 0x1.3f196ea467cfap+2, 0x1.579c4f035e89dp+2,
       0x1.70261a767a3aep+2},
      {0x0p+0, 0x1.dae00fb511db8p-6, -0x1.6875cf373dd6ep-5, 0x1.cad0c50f7adc2p-1, 0x1.f0a0e0a1784e1p-1,
       0x1.fc95beec2eb17p-1, 0x1.ff69d8ebe64e1p-1, 0x1.ffec86591409dp-1, 0x1.fffe1dad7ab85p-1, 0x1.ffffdc0d570e3p-1,
       0x1.fffffe169a8ddp-1, 0x1.ffffffeb35a1ap-1, 0x1.ffffffff58941p-1, 0x1.fffffffffc193p-1, 0x1.ffffffffffee6p-1,
       0x1.ffffffffffffcp-1},
      {0x1.06eba8214db69p-3, -0x1.8b6df1dad51aep-6, -0x1.7b9d9e22a0bp-2, 0x1.33e4a07a3f6c2p-2, 0x1.b705a476ca0c6p-4,
       0x1.d25db9630534ep-6, 0x1.758edc0aba0fdp-8, 0x1.bbe03e3b949e7p-11, 0x1.83d9c32e95e4ep-14, 0x1.01ade369a9118p-17,
       0x1.e49b32f4592bep-22, 0x1.683cd32b7ef6fp-26, 0x1.89efc798b1fbap-31, 0x1.3d47e99ab2c95p-36,
       0x1.80dd167ad80a5p-42, 0x1.2402bd5f4647p-48},
      {0x1.c43ae2cc34f8dp-55, -0x1.7ccbe72e7d572p-2, -0x1.ec6b9f79c9bf2p-2, -0x1.6213c59139048p-2, -0x1.50ca4a8bf562p-3,
       -0x1.bf509b154fa8fp-5, -0x1.ad835c1658c22p-7, -0x1.29a8880686269p-9, -0x1.296e3438c559p-12,
       -0x1.bc686e59f2214p-16, -0x1.d10155a6ea1d5p-20, -0x1.7bf8d0be88258p-24, -0x1.c5366c9a0ec19p-29,
       -0x1.8b7c0f91635b8p-34, -0x1.02491a5f9ace8p-39, 0x1.3eea7316638p-45},
      {-0x1.812746b037ac2p-2, -0x1.d8b5ffaf41c35p-3, 0x1.208ada56883ccp-5, 0x1.51a81c2de50cfp-3, 0x1.0f50c0e7d53aep-3,
       0x1.ee54016acb24fp-5, 0x1.2a1a710cc1114p-6, 0x1.ef4b479da42f9p-9, 0x1.1ff5aeefd897dp-11, 0x1.e97e6886f0f2cp-15,
       0x1.1f5e62e48dffbp-18, 0x1.03afc626e3ecdp-22, 0x1.5365f9fe6b658p-27, 0x1.420895fb64c2cp-32,
       0x1.c63b13deeb08dp-38, 0x1.48bc0a2b686e1p-41},
      {0x1.4dd17be27a8ap-40, 0x1.57ee97c737c08p-3, 0x1.2cb7e06ba278p-3, 0x1.4f30b84b8505ep-6, -0x1.7f7dc13153bd2p-5,
       -0x1.4507999209185p-5, -0x1.0f2ba6cef2d18p-6, -0x1.1a876e260eaebp-8, -0x1.881530b15a57ep-11,
       -0x1.8111f050fc839p-14, -0x1.005ec453e3cc8p-17, -0x1.02149a8fc7117p-21, -0x1.7395ed96adb07p-26,
       -0x1.80f0ed59cadbap-31, -0x1.26283758f042fp-36, -0x1.666f0cbcf0c27p-36},
      {0x1.ce2f219c290c2p-4, 0x1.658dea8657568p-5, -0x1.c63e5317bd8dcp-5, -0x1.e248261928dffp-5, -0x1.68e79b9afb019p-7,
       0x1.9469b55272821p-7, 0x1.40001d7f818c1p-7, 0x1.c9afbf54196c5p-9, 0x1.8ab1938225f9ap-11, 0x1.c9ddd36834e6cp-14,
       0x1.5e7eec8bbcbdfp-17, 0x1.8c98b5da781f6p-21, 0x1.3c8a246152ee2p-25, 0x1.67ad2674e00efp-30,
       0x1.2a947eb4b87c5p-35, -0x1.6ca6463ff98f3p-34},
      {0x1.e71ed357508p-30, -0x1.9c4744f3029cbp-5, -0x1.9a1e706c8a494p-6, 0x1.185d932e22bfep-6, 0x1.28d1051299e6cp-6,
       0x1.6069d1b105f57p-9, -0x1.92a8731bf8af4p-9, -0x1.028b3d75402dep-9, -0x1.2b03f7d3e92b3p-11,
       -0x1.a7c18a739a1c5p-14, -0x1.7c0f51d1441d9p-17, -0x1.e8f093217057ep-21, -0x1.b3ebf8caaff3ep-25,
       -0x1.10e9b8889772bp-29, -0x1.ea92663154c0bp-35, 0x1.4280356d912e4p-29},
      {-0x1.b82d06ec14fe7p-6, -0x1.41f4af0cd9316p-8, 0x1.31d97c5dc02fp-6, 0x1.13136c3e2709bp-7, -0x1.5c986d763a165p-8,
       -0x1.21276d9dbd747p-8, -0x1.41a7c96603509p-12, 0x1.64aff9cde2ff8p-11, 0x1.502d808cfef99p-12,
       0x1.349a501026a22p-14, 0x1.4d55ac15e6f9cp-17, 0x1.eefaa6503bc02p-21, 0x1.f21d85529a05cp-25,
       0x1.5b0ad96a3e2edp-29, 0x1.5df716ec6510dp-34, 0x1.92927742882d5p-28},
      {0x1.bd0c9bf5709bfp-22, 0x1.70b7977e52c56p-7, 0x1.d73bb3a4d6ef4p-10, -0x1.8e7b4e8daeeeep-8,
       -0x1.e2d0b81f0b94ap-10, 0x1.93a63050f363dp-10, 0x1.b598564a323c4p-11, -0x1.194b4157113fdp-15,
       -0x1.034f75caf2965p-13, -0x1.5e9e601081104p-15, -0x1.dcdb72a5c171cp-18, -0x1.a171aebfe748dp-21,
       -0x1.e48d2d95378eap-25, -0x1.8679001695cd3p-29, -0x1.0ccb5004d8f0cp-33, -0x1.0b5b7637bcec7p-23},
      {0x1.562221078997dp-8, 0x1.53e11eb036152p-19, -0x1.01de39ab11bb2p-8, -0x1.49edab433295p-14, 0x1.b3bb6a3457a44p-10,
       0x1.a6cc9324f7991p-13, -0x1.80b21487d4101p-12, -0x1.d711d8b5736e4p-14, 0x1.703655279252dp-16,
       0x1.29892f41b8848p-16, 0x1.15118c8dd44aap-18, 0x1.26df28e72b80fp-21, 0x1.8380205c06228p-25,
       0x1.4753920ebc8dbp-29, 0x1.f9f54df8f3c48p-35, -0x1.7d5ed21a07b54p-23},
      {0x1.3ca6b449e1b72p-16, -0x1.062f9ab46991fp-9, 0x1.27b4ca88f3a86p-12, 0x1.200ea7a5bc52bp-10,
       -0x1.7ef2b752f4a83p-13, -0x1.70165953f80a5p-12, 0x1.54cb2aa03d6bap-16, 0x1.158f392493d8fp-14,
       0x1.1e4026fe48d06p-17, -0x1.43549529806c7p-18, -0x1.fc3c4bf5dfbd6p-20, -0x1.5758eb754b1cdp-22,
       -0x1.2f27b8a6f1bdap-26, 0x1.18fc8227a7179p-30, 0x1.59299c82662ecp-31, 0x1.99dc4ab8cebdp-19},
      {-0x1.e2c58cf338d9dp-11, 0x1.1974afbf42debp-13, 0x1.39027a9081e38p-11, -0x1.baea0a5e8f057p-13,
       -0x1.ccf54fd5918a8p-13, 0x1.6e1c29949258fp-14, 0x1.b0dd7ec49297bp-15, -0x1.c63db779dee61p-17,
       -0x1.189262892ee92p-17, 0x1.fbf45cb486523p-25, 0x1.5edd07070efc9p-21, 0x1.6028d24cc4e83p-23,
       0x1.d4d1b6a4c578ap-26, 0x1.95e02178b1f74p-29, 0x1.0c60ab0a897ecp-31, 0x1.0484ec87dba29p-19},
      {0x1.18168211dfc58p-13, 0x1.2f1e862af4d53p-12, -0x1.f7f8dd00b28c2p-14, -0x1.01e6ac9d2cc6bp-13,
       0x1.5c25b1219d104p-14, 0x1.9b2d78dcfcd8cp-16, -0x1.7650f52b8b9dep-16, -0x1.ddbe138b4a1d8p-19,
       0x1.7c3e088b80bd3p-19, 0x1.b5dd01c6ef027p-21, -0x1.066e1a2281b86p-22, -0x1.effb03a12ea2dp-24,
       -0x1.34c80b9a5c7cp-23, -0x1.ef243986002b6p-26, -0x1.c6f2df19cee5cp-28, -0x1.d8deacbd2e4ep-16},
  };
};
template <class D, class V>
HWY_INLINE V error_by_pieces(D d, V x) {
  using T = hn::TFromD<D>;
  using Pieces = ErrorPieces<T, kPowersLookedUp<D>>;
  const V size = hn::Min(hn::Set(d, Pieces::farthest), hn::Abs(x));  // NaN stays
  const V interval = hn::MulAdd(size, hn::Set(d, Pieces::intervals), hn::Set(d, kCounter<T>));
  const V line = hn::IfThenElseZero(hn::Le(interval, hn::Set(d, kCounter<T> + Pieces::last_small)), size);
  return hn::CopySign(hn::Add(line, piece(size, interval, Pieces::rows)), x);
}

#if TENON_HAS_LANE_ROWS
/// erf(size) for 0 <= size <= `farthest`, in intervals of 1/8 around i/8: erf(i/8) as the sum of two numbers, then the
/// coefficients from the linear one on, 2^-56. Less `size` up to the interval `last_small`.
struct ErrorRows {
  static constexpr double farthest = 5.94, last_small = 4;
  alignas(32) static constexpr double rows[][12] = {
      {0x0p+0, 0x0p+0, 0x1.06eba8214db69p-3, -0x1.5b607b2e8bba2p-58, -0x1.812746b0379bap-2, -0x1.1ea4c036fa59dp-41,
       0x1.ce2f21a3e6864p-4, -0x1.b2f630f40d5b8p-29, -0x1.b82c67733b427p-6, -0x1.5bfee5c1236d2p-19,
       0x1.58abfbe263dd5p-8, -0x1.17260681c1ee7p-12},
      {0x0p+0, 0x1.f5e1a35c3b897p-7, 0x1.c62fa1e869b63p-4, -0x1.1c62fa1e869b6p-3, -0x1.6f552dbcc30b5p-2,
       0x1.196c9cd8dfb5fp-4, 0x1.aaba623a90392p-4, -0x1.734ea698be5f1p-6, -0x1.89256e64f155ap-6, 0x1.6f67fb1e3e3ebp-8,
       0x1.2712dcc5924e7p-8, -0x1.224f4f776768cp-10},
      {0x0p+0, 0x1.af54e232d6089p-6, 0x1.eba2c05efc81bp-5, -0x1.0f5d1602f7e41p-2, -0x1.3c974458cbcc3p-2,
       0x1.040e8a6d82c4p-3, 0x1.47e5cfec91f7ep-4, -0x1.4c0b253bbfd28p-5, -0x1.08d93769ae545p-6, 0x1.3db6e5116f7e5p-7,
       0x1.54e70d2cc4d4ep-9, -0x1.e52b4a7d29c46p-10},
      {0x0p+0, 0x1.dd0d2b721f38cp-6, -0x1.41e64a1d59d9fp-6, -0x1.78749a434fe4ep-2, -0x1.e106c51d1f06fp-3,
       0x1.5529abcd0046p-3, 0x1.7488b8a9174b8p-5, -0x1.9a7945ca9a758p-5, -0x1.65c1207d2ca58p-8, 0x1.709a9b576fb18p-7,
       0x1.06c256a78f884p-13, -0x1.06eb8820b6e6p-9},
      {0x0p+0, 0x1.4fdeb831dba45p-6, -0x1.f081adb2d7f75p-4, -0x1.c1efca49a5011p-2, -0x1.2bf531866e38ap-3,
       0x1.76f27de8096adp-3, 0x1.dfeeb5cb08f8p-8, -0x1.99f13b24b8788p-5, 0x1.623c080032998p-8, 0x1.493d365b9fffep-7,
       -0x1.1b6336f184182p-9, -0x1.9ae1b0b6b7cabp-10},
      {0x1.3f196dcd0f135p-1, -0x1.f25f4f6fdf70bp-56, 0x1.86e9694134b9ep-1, -0x1.e8a3c39181e85p-2, -0x1.c8105021695f3p-5,
       0x1.6963c8a39d649p-3, -0x1.c1242df2a3e9fp-6, -0x1.52b2668e1f7a9p-5, 0x1.c7cd5f1881da8p-7, 0x1.b62f431f2937bp-8,
       -0x1.db47223f95131p-9, -0x1.80d9e584fa0c3p-11},
      {0x1.6c1c9759d0e5fp-1, 0x1.b1432f2cbc455p-55, 0x1.492e42d78d2c5p-1, -0x1.edc5644353c27p-2, 0x1.b6e8591f64b42p-6,
       0x1.349b5eaa14657p-3, -0x1.b42a188aa9c6fp-5, -0x1.b8477968c9ef8p-6, 0x1.2e0adef65fcd9p-6, 0x1.2db3592da31fp-9,
       -0x1.039fffc44746p-8, 0x1.83bfcb4c00be2p-13},
      {0x1.91724951b8fc6p-1, -0x1.27912dd352f8bp-55, 0x1.0cab61f084b93p-1, -0x1.d62beb64e8442p-2, 0x1.7c9d756a1103ep-4,
       0x1.cc60567d78ee1p-4, -0x1.1350f4b036f69p-4, -0x1.53bb4a628d908p-7, 0x1.30ac100385a47p-6, -0x1.e3f4468f23b28p-10,
       -0x1.aa55a8632e4b5p-9, 0x1.d5ce5fcf30e46p-11},
      {0x1.af767a741088bp-1, -0x1.c97f778122797p-56, 0x1.a911f096fbc26p-2, -0x1.a911f096fbc26p-2, 0x1.1b614b0f5277fp-3,
       0x1.1b614b0f52ae9p-4, -0x1.1b614b0ee66p-4, 0x1.2e45a555ec035p-8, 0x1.f096f5b75da35p-7, -0x1.391122b774bap-8,
       -0x1.edf31a9ce343cp-10, 0x1.40e6aa0e93923p-10},
      {0x1.c6dad2829ec62p-1, -0x1.ab76d4cba3d05p-57, 0x1.45e99bcbb7915p-2, -0x1.6ea6cf452e838p-2, 0x1.4cb3cf0aa0cd9p-3,
       0x1.ca5083167aa3dp-6, -0x1.f65d15f38cc83p-5, 0x1.fd1c6c0c5a0e1p-7, 0x1.3acc8829e156p-7, -0x1.8b43aac076f4ep-8,
       -0x1.7bad9784bce17p-12, 0x1.2dec774b8bc5dp-10},
      {0x1.d8865d98abe01p-1, -0x1.fcec4afb974d9p-55, 0x1.e4652fadcb6b2p-3, -0x1.2ebf3dcc9f22fp-2, 0x1.571d01c5c5905p-3,
       -0x1.93a9a7bb7e1b1p-8, -0x1.8281ce0e64f36p-5, 0x1.5d0003ae660e2p-6, 0x1.db443e08e5212p-9, -0x1.756723693b902p-8,
       0x1.ca4fce1e144b5p-11, 0x1.9fbb3e64cb1cbp-11},
      {0x1.e5768c3b4a3fcp-1, 0x1.8b62674f8989p-57, 0x1.5ce595c455b0ap-3, -0x1.dfbbadedf5d2ep-3, 0x1.4374d82e04ec9p-3,
       -0x1.f3b8d52d35801p-6, -0x1.f572c4cf74c6p-6, 0x1.6b16f52ce8d3cp-6, -0x1.73feb588f3af5p-10, -0x1.17404c6d56191p-8,
       0x1.9caf943e533c8p-10, 0x1.53a1e4aee69efp-12},
      {0x1.eea5557137aep-1, -0x1.385e445f2c96dp-55, 0x1.e723726b824a9p-4, -0x1.6d5a95d0a1b7fp-3, 0x1.1c2a02beb6c82p-3,
       -0x1.6d5a95d0a1daep-5, -0x1.e723727588809p-7, 0x1.3ca3d72dcf387p-6, -0x1.36d70c8dc50f3p-8, -0x1.35ae6a2e75191p-9,
       0x1.bf80b49698457p-10, -0x1.8236f71a103b8p-14},
      {0x1.f4f693b67bd77p-1, -0x1.3a1ee1406c356p-56, 0x1.499d478bca735p-4, -0x1.0bcfca21947dbp-3, 0x1.d6631e1a29064p-4,
       -0x1.974c036867517p-5, -0x1.17d430d12aa95p-9, 0x1.d857f2c8335fep-7, -0x1.954a9a4dea499p-8,
       -0x1.2e446da4c2954p-11, 0x1.7172dbcf68f31p-10, -0x1.7447fc4df9719p-12},
      {0x1.f92d077f8d56dp-1, 0x1.8b55ef493fce7p-56, 0x1.b055303221015p-5, -0x1.7a4a8a2bdce13p-4, 0x1.7148c3d57c327p-4,
       -0x1.8a0da54306342p-5, 0x1.b22257dc8fa2fp-8, 0x1.25b378cbdf065p-7, -0x1.8d10fa68e1fd1p-8, 0x1.7ec16ee59ed33p-11,
       0x1.d4c7043c1a1a2p-11, -0x1.cf7c00b818276p-12},
      {0x1.fbe61eef4cf6ap-1, 0x1.15ded88667618p-55, 0x1.12ceb37ff9bc4p-5, -0x1.01a1c847fa207p-4, 0x1.143d1c6f4ef8ap-4,
       -0x1.5a316520b82bep-5, 0x1.779b1e59ea40ap-7, 0x1.0d099c7e02311p-8, -0x1.42fcc7e96899bp-8, 0x1.76ff3dd8725c2p-10,
       0x1.7caeabbccd06ap-12, -0x1.98b416a7fd53ep-12},
      {0x1.fd9ae142795e3p-1, 0x1.972801904b9a3p-56, 0x1.529b9e8cf9a1fp-6, -0x1.529b9e8cf9a1ep-5, 0x1.8b0ae3a478638p-5,
       -0x1.1a2c59757ab3fp-5, 0x1.ace7405040bf9p-7, 0x1.e1935ead033a8p-12, -0x1.bae0d0f6fb0d3p-9, 0x1.a1143076999c8p-10,
       -0x1.9b15299521d98p-15, -0x1.1382532bfd28bp-12},
      {0x1.fea4218d6594ap-1, -0x1.e3333d8f7d98cp-58, 0x1.94624e78e0fafp-7, -0x1.ada873606f0aap-6, 0x1.0ea475da3bbd4p-5,
       -0x1.afe553fa44e68p-6, 0x1.9973b48db695p-7, -0x1.dd78ee19f7dc4p-10, -0x1.ea03ff778303bp-10,
       0x1.6aa2cb8050968p-10, -0x1.2ec9d650df7b1p-12, -0x1.01ced2684e379p-13},
      {0x1.ff404760319b4p-1, 0x1.f142071432025p-56, 0x1.d4143a9dfe966p-8, -0x1.074b60f8df349p-6, 0x1.63ef61e82407ap-6,
       -0x1.38a9832788fap-6, 0x1.5d3b17be723p-7, -0x1.7cae0d4944316p-9, -0x1.5f83719bc234fp-11, 0x1.0602f39105ab8p-10,
       -0x1.82970150986b6p-12, -0x1.88ec97d820a8cp-17},
      {0x1.ff9960f3eb327p-1, -0x1.08b1ca6e97f8p-56, 0x1.06918b6355625p-8, -0x1.37ccd585f564bp-7, 0x1.c1ec102e3616p-7,
       -0x1.ae59615f8e8c3p-7, 0x1.11dae4749032ap-7, -0x1.982b274ec883bp-9, 0x1.02832a432e581p-13, 0x1.377c63266ac11p-11,
       -0x1.61913b45eea8fp-12, 0x1.c9088697afe1fp-15},
      {0x1.ffcaa8f4c9beap-1, 0x1.b0cee160116f9p-55, 0x1.1d83170fbf6fcp-9, -0x1.64e3dcd3af4bbp-8, 0x1.119da0c46cc1bp-7,
       -0x1.1a89b97ceaad3p-7, 0x1.90e812846351p-8, -0x1.6ecdbf6a01d63p-9, 0x1.1c610453eed03p-11, 0x1.1155468c01f9ep-12,
       -0x1.0662910117ab1p-12, 0x1.49e1e4b612485p-14},
      {0x1.ffe514bbdc197p-1, -0x1.cd963345b5c6dp-58, 0x1.2ce898809244ep-10, -0x1.8af14828bffa7p-9, 0x1.407fbd18f1452p-8,
       -0x1.62d4c6d49c62ep-8, 0x1.146c4b3d592c2p-8, -0x1.267f3bc4f99c9p-9, 0x1.64f8a08659f05p-11, 0x1.229f8b299cc3ap-15,
       -0x1.40421f4417cd4p-13, 0x1.35e4a36060f5fp-14},
      {0x1.fff2cfb0453d9p-1, 0x1.9a913686042a3p-55, 0x1.3360ccd23db39p-11, -0x1.a6a519a114d7p-10, 0x1.69cf466cce682p-9,
       -0x1.ab0c273ac25c2p-9, 0x1.69359603e6504p-9, -0x1.b2755bfdca8efp-10, 0x1.52b63d0e03d05p-11,
       -0x1.755765f04a307p-14, -0x1.2b71c5e17586ep-14, 0x1.cd4049c4755b5p-15},
      {0x1.fff9ba420e834p-1, 0x1.1379ec5aa630ep-56, 0x1.30538fbb77ecap-12, -0x1.b5781e9d7c647p-11,
       0x1.89e17c074e0c9p-10, -0x1.ed4ac7daea613p-10, 0x1.c11f2701b1af7p-10, -0x1.2add1ce6cfed7p-10,
       0x1.151f8dabbcf54p-11, -0x1.1c640af9a9233p-13, -0x1.116fb983b647p-16, 0x1.1843320ca97a8p-15},
      {0x1.fffd1ac4135f9p-1, 0x1.eeafa1ecd6cefp-55, 0x1.2408e9ba3327bp-13, -0x1.b60d5e974cbbdp-12,
       0x1.9db74b1d1f051p-11, -0x1.11c85b1e90211p-10, 0x1.0a7b55434db34p-10, -0x1.82f235ae67eap-11,
       0x1.998b66e555b4bp-12, -0x1.1aa5f3ab73888p-13, 0x1.cebf565719c7cp-17, 0x1.068ae7c830309p-16},
      {0x1.fffeb3ebb267bp-1, 0x1.e47f697047cbap-57, 0x1.0f9e1b4dd36dap-14, -0x1.a8670aa99a5bbp-13,
       0x1.a3737e2a309b2p-12, -0x1.24544f02d2f68p-11, 0x1.2e7e76392edd2p-11, -0x1.da496e4fe3ccdp-12,
       0x1.176d08c1e39dcp-12, -0x1.d2ac8c00d1cdp-14, 0x1.a9d7eb8a7748bp-16, 0x1.05ea43ff308d8p-18},
      {0x1.ffff6f9f67e55p-1, 0x1.e1e4483ba034bp-55, 0x1.e9b5e8d00ce6ep-16, -0x1.8de3cd290a7bfp-14,
       0x1.9aa489e3cc1d1p-13, -0x1.2c7d5ef05458dp-12, 0x1.490a4d1f6fd5cp-12, -0x1.145464e7c1679p-12,
       0x1.647f82a8381c4p-13, -0x1.56748fc0bb52ep-14, 0x1.b23ecd2b34d84p-16, -0x1.35d454e804e44p-19},
      {0x1.ffffc316d9edp-1, -0x1.8b32f44f46b3bp-55, 0x1.abe09e9144b5ap-17, -0x1.690585ca91f96p-15,
       0x1.84522fe881f3fp-14, -0x1.298f8d45f6cbbp-13, 0x1.57757786b58b6p-13, -0x1.330aab7523733p-13,
       0x1.ac999f76f6f08p-14, -0x1.cc15915493254p-15, 0x1.64a6d4ecd05ap-16, -0x1.342b61753e634p-18},
      {0x1.ffffe710d565ep-1, 0x1.c9ea52d76dc04p-55, 0x1.6a597219a93dfp-18, -0x1.3d0e43d67415dp-16,
       0x1.62ccea63ca40ap-15, -0x1.1c07721ac864ep-14, 0x1.586bafcbf41b6p-14, -0x1.46153fb74b0a1p-14,
       0x1.e827f0c87ed4p-15, -0x1.1f630f1fbd435p-15, 0x1.014992138014dp-16, -0x1.37221000dc9b3p-18},
      {0x1.fffff618c3da6p-1, -0x1.19309ce23aa3ep-58, 0x1.296a70f414066p-19, -0x1.0d88765d3224bp-17,
       0x1.394b1fa66e311p-16, -0x1.05760ad1bd1d6p-15, 0x1.4c1fe49277c28p-15, -0x1.4b982032bb7f1p-15,
       0x1.085bfcf5836f4p-15, -0x1.510a3f980990bp-16, 0x1.51af8f3850b1cp-17, -0x1.f2fda26a94d0bp-19},
      {0x1.fffffc2f171e3p-1, 0x1.85edd0395f475p-55, 0x1.d9371e2ff7c7dp-21, -0x1.bba3ac4cf8474p-19,
       0x1.0b6a7b0f15c2ap-17, -0x1.d06f58609344fp-17, 0x1.3436bcaf67f9ep-16, -0x1.4357b5563e428p-16,
       0x1.110dc0dc67b2dp-16, -0x1.7566b6a59a348p-17, 0x1.9a84c9cf86e9dp-18, -0x1.5d8a2e9a0d623p-19},
      {0x1.fffffe92ced93p-1, -0x1.d2db2ecfe14aep-55, 0x1.6ce1aa3fd7c4bp-22, -0x1.617a9cedd9004p-20,
       0x1.b95fa39b28c83p-19, -0x1.8e1fc41536cdep-18, 0x1.1371723010eb9p-17, -0x1.2eb290b6ee724p-17,
       0x1.0d8bfecb9bcefp-17, -0x1.8885516cc668fp-18, 0x1.d338446000407p-19, -0x1.bc1eb60a56a2cp-20},
      {0x1.ffffff7b91176p-1, 0x1.0b2865615db4p-56, 0x1.10b1488aeb2c9p-23, -0x1.10b1488aeb24p-21, 0x1.603a5308adeddp-20,
       -0x1.4980e2528354p-19, 0x1.da5f111d12b73p-19, -0x1.10505380832fap-18, 0x1.fd7bd17155687p-19,
       -0x1.88c7830911a3ep-19, 0x1.f54c569419aa3p-20, -0x1.04ce16ba5499fp-20},
      {0x1.ffffffd169d0cp-1, 0x1.70a2bfb068e6fp-55, 0x1.8b0cfce057b49p-25, -0x1.976564c75a5cfp-23,
       0x1.0fdac5599abdep-21, -0x1.07600ca6dbdf9p-20, 0x1.89ca7794e6c79p-20, -0x1.d73aa500e3f76p-20,
       0x1.cd9d58fb922b1p-20, -0x1.771075919e77fp-20, 0x1.fd832562fdbeep-21, -0x1.1e54d6e0404b3p-21},
      {0x1.fffffff01a8b6p-1, 0x1.23370eca5ca6ap-60, 0x1.155a09065d68ep-26, -0x1.26afa996c327p-24, 0x1.95ea6fdfbb95ep-23,
       -0x1.96ba7366b3195p-22, 0x1.3b468072d6069p-21, -0x1.8868e1f6a0e97p-21, 0x1.916dc6905446p-21,
       -0x1.566eaf35b8b3fp-21, 0x1.ec4c0a8b25eafp-22, -0x1.27fdd7cd73444p-22},
      {0x1.fffffffabd229p-1, -0x1.4dbe49bec3ef2p-57, 0x1.7974e743ded97p-28, -0x1.9cd7dcf23b892p-26,
       0x1.252af6f449067p-24, -0x1.2f7354e6a7b87p-23, 0x1.e71030446e8f4p-23, -0x1.3ab0b11aaf929p-22,
       0x1.4f6031b97fbb5p-22, -0x1.2b62bf942f5dp-22, 0x1.c56467ef9690dp-23, -0x1.218dda905dd26p-23},
      {0x1.fffffffe4fa3p-1, 0x1.d166bcb681c7bp-57, 0x1.f1e3523b42423p-30, -0x1.180fde41550fep-27, 0x1.99b8665593d4dp-26,
       -0x1.b598cb45f482ap-25, 0x1.6b1bafff9fabep-24, -0x1.e650e39fc7e35p-24, 0x1.0d66bac17d81ep-23,
       -0x1.f5f24c4e6ad27p-24, 0x1.8ed7bd2ae5ef2p-24, -0x1.0d09448cafa34p-24},
      {0x1.ffffffff79626p-1, 0x1.5fbc52d650a89p-55, 0x1.3e44e453021dp-31, -0x1.6fffa7fffa0b2p-29, 0x1.1508f7686e8dcp-27,
       -0x1.30fd0c66851adp-26, 0x1.055633328d10ep-25, -0x1.6a3a9da5a7476p-25, 0x1.a06e3ac2bc315p-25,
       -0x1.93e1986c28c2cp-25, 0x1.4fb0234aa4c3fp-25, -0x1.dc2a265e31c1dp-26},
      {0x1.ffffffffd759dp-1, 0x1.f7bee7eb2342p-55, 0x1.8a61745ec883ap-33, -0x1.d453ba308d61ep-31, 0x1.6a8aeba3981b5p-29,
       -0x1.9b017abbb38f1p-28, 0x1.6b43ca8a1dffdp-27, -0x1.042f2abcb85c8p-26, 0x1.35db1fa4dc4a1p-26,
       -0x1.38341f480db74p-26, 0x1.0eb033f2e4f7p-26, -0x1.92351aeba223dp-27},
      {0x1.fffffffff4188p-1, 0x1.7a2cb3d056eacp-55, 0x1.d9a880f307ebp-35, -0x1.20a2ae941831ap-32, 0x1.cb2a2e54c8d7fp-31,
       -0x1.0bc6ecf62cfc7p-29, 0x1.e7ba597650cfep-29, -0x1.689348063efdep-28, 0x1.bc28690a46fep-28,
       -0x1.d00e9aa8e9ff9p-28, 0x1.a2b8a3a3aeffep-28, -0x1.44d7b6db3f582p-28},
      {0x1.fffffffffc9e8p-1, -0x1.a759f7738935fp-56, 0x1.13af4f04fa8d6p-36, -0x1.589b22c638259p-34,
       0x1.196da0a9389fap-32, -0x1.516d3cb70de67p-31, 0x1.3c51d2555979dp-30, -0x1.e23587e9b9658p-30,
       0x1.32c541869962ep-29, -0x1.4bcd774bfe972p-29, 0x1.36ed21eac25f4p-29, -0x1.f66ce23508c95p-30},
      {0x1.ffffffffff11ap-1, -0x1.3eafccbc6e8b7p-56, 0x1.370ab8327c6fp-38, -0x1.8e85bc00adc82p-36,
       0x1.4decacbdafa47p-34, -0x1.9b3c557f6fad2p-33, 0x1.8c78e6dbdb231p-32, -0x1.373cd7b9c1c7cp-31,
       0x1.9887c002a0e14p-31, -0x1.c8be2f761e17fp-31, 0x1.bbb0f3e3ae32cp-31, -0x1.74799f10aca34p-31},
      {0x1.ffffffffffc05p-1, 0x1.07ba96a6b2e1ap-55, 0x1.5422ef5d8b77fp-40, -0x1.be6dda2ac48f5p-38,
       0x1.7f8a0f3b69dd8p-36, -0x1.e4cb4ae984fbbp-35, 0x1.e044b7bb8e543p-34, -0x1.83ea4ceccb95ap-33,
       0x1.06572af05106fp-32, -0x1.2ec3d50d01eefp-32, 0x1.30659f0f2868ap-32, -0x1.08fa9fecdeae2p-32},
      {0x1.ffffffffffef8p-1, 0x1.14be6226402c7p-56, 0x1.68823e529a237p-42, -0x1.e46f03befb837p-40,
       0x1.aa76120ad5a39p-38, -0x1.146faeb7e20dap-36, 0x1.192d3dda43533p-35, -0x1.d2eab0511b9efp-35,
       0x1.450a3419f996ep-34, -0x1.82c0d38013407p-34, 0x1.91d8fbd0b654ap-34, -0x1.6a16272bb827dp-34},
      {0x1.fffffffffffbep-1, -0x1.182b326b228dcp-55, 0x1.7258610b3f581p-44, -0x1.fd39856f72158p-42,
       0x1.cb12e2f0a9fc7p-40, -0x1.31011e95c97fap-38, 0x1.3e4a23375dd44p-37, -0x1.0f6e8b265b57cp-36,
       0x1.84a0acf93b288p-36, -0x1.dc35a87588ceap-36, 0x1.fead7f14c3ee6p-36, -0x1.db8a6109baca2p-36},
      {0x1.ffffffffffffp-1, -0x1.20ef3618f2d54p-56, 0x1.70beaf9c8579fp-46, -0x1.0346137a0a823p-43,
       0x1.de74c0d55cb14p-42, -0x1.459c817475f3ep-40, 0x1.5c5ee8d0ee58ep-39, -0x1.30e3dde2df74bp-38,
       0x1.c081fd01c1ce9p-38, -0x1.1ab2799a1238ep-37, 0x1.38842c795a89bp-37, -0x1.2c51c8e76bcf5p-37},
      {0x1.ffffffffffffcp-1, 0x1.8115fd1b12786p-56, 0x1.63daf8b4b8c5ep-48, -0x1.ff8ac583c10dap-46,
       0x1.e2d06d6735cf7p-44, -0x1.505d9533f08b4p-42, 0x1.70b7071e30db1p-41, -0x1.4aed6a878e0e4p-40,
       0x1.f3beaf2203426p-40, -0x1.43be6f51c51cbp-39, 0x1.7089951cd13a7p-39, -0x1.6d0228d9f9e69p-39},
      {0x1.fffffffffffffp-1, 0x1.0439397b5f70ap-56, 0x1.4cd9c041611f2p-50, -0x1.e8dfd25ffc1dcp-48,
       0x1.d7c149f2383ddp-46, -0x1.50429df168433p-44, 0x1.796a414b5af6dp-43, -0x1.5b22846e699cbp-42,
       0x1.0cdd2606f6723p-41, -0x1.65b621ba96319p-41, 0x1.a2e5a485e3605p-41, -0x1.ab19cd48ba5edp-41},
      {0x1p+0, -0x1.8cf81557d20b6p-56, 0x1.2dc1190960d1bp-52, -0x1.c4a1a58e04c41p-50, 0x1.be584a51bf9bcp-48,
       -0x1.45542efb8b934p-46, 0x1.75a8247267d95p-45, -0x1.5ff7d82304cf9p-44, 0x1.176d37595c98dp-43,
       -0x1.7d710a1033b77p-43, 0x1.cb16c389824ccp-43, -0x1.e1586e551f43ep-43},
  };
};
/// The sum of the coefficients kFirst, kFirst + 1, ... of each lane's row, each times one more power of r.
template <int kFirst, int kCount, class V>
HWY_INLINE V polynomial_of_rows(const LaneRows& lanes, V r) {
  static_assert(kFirst % 2 == 0);
  const V square = hn::Mul(r, r);
  const auto terms = [&](int i) HWY_ATTR {
    const Pair<V> two = lanes.numbers(i);
    return hn::MulAdd(two.low, r, two.high);
  };
  constexpr int kLast = (kFirst + kCount - 1) / 2;
  V sum = kCount % 2 == 0 ? terms(kLast) : lanes.numbers(kLast).high;
  for (int i = kLast - 1; i >= kFirst / 2; --i) sum = hn::MulAdd(sum, square, terms(i));
  return sum;
}
/// Of the row's function at its start + r: the start is the first number, or `size` where the row is small, plus the
/// second one; the others are coefficients from the linear one on.
template <int kCount, class D, class V, class M>
HWY_INLINE V value_of_rows(D, const LaneRows& lanes, V r, M is_small, V size) {
  const V slope = polynomial_of_rows<2, kCount - 2>(lanes, r);
  const Pair<V> start = lanes.numbers(0);
  return hn::Add(hn::IfThenElse(is_small, size, start.high), hn::MulAdd(slope, r, start.low));
}
template <class D, class V>
HWY_INLINE V error_by_rows(D d, V x) {
  const V counter = hn::Set(d, kCounter<double>), farthest = hn::Set(d, ErrorRows::farthest), size = hn::Abs(x);
  const V bounded = hn::Min(farthest, size);  // NaN stays; its row is that of `farthest`
  const V counted = hn::MulAdd(hn::Min(size, farthest), hn::Set(d, 8.0), counter), number = hn::Sub(counted, counter);
  const V r = hn::NegMulAdd(number, hn::Set(d, 0.125), bounded);
  const auto is_small = hn::Le(number, hn::Set(d, ErrorRows::last_small));
  return hn::CopySign(value_of_rows<12>(d, LaneRows(ErrorRows::rows, counted), r, is_small, bounded), x);
}
/// tanh(size) for 0 <= size <= `farthest` by the first four bits of size + 1: 2^-57. Rows as in ErrorRows, but r >= 0.
struct TangentRows {
  static constexpr double farthest = 19.5, last_small = 0x1.8p-2;
  alignas(32) static constexpr double rows[][12] = {
      {0x0p+0, 0x0p+0, 0x1.c627a1fc3fe4dp-63, 0x1.44d77475e59fdp-52, -0x1.555555555633ap-2, 0x1.4d7c5a26b469ep-35,
       0x1.1111109ea5446p-3, 0x1.5098bb872fa33p-23, -0x1.ba2459a740b3fp-5, 0x1.f9d7bf95048f5p-15, 0x1.5fd4d77aadb6bp-6,
       0x0p+0},
      {0x0p+0, -0x1.54cd03f9e51f6p-14, -0x1.feab6bb22cf4ap-9, -0x1.fd57980778f3p-5, -0x1.500786e5a83aap-2,
       0x1.5193b61f4965ep-5, 0x1.0815e74abfeb1p-3, -0x1.7b8b3ea8ab02dp-6, -0x1.a175c1ac98587p-5, 0x1.917cfa8d6e29bp-7,
       0x1.23ad681d5e4e6p-6, 0x0p+0},
      {0x0p+0, -0x1.5336a1da3e582p-11, -0x1.fab6a86c0fa8ap-7, -0x1.f57935caaa995p-4, -0x1.4077130f822cfp-2,
       0x1.468f9fea8e68p-4, 0x1.dc4ae37545cdbp-4, -0x1.6670b7b6bfd71p-5, -0x1.5b4378c3807b3p-5, 0x1.6df5e34077233p-6,
       0x1.77192fcc23fd4p-7, 0x0p+0},
      {0x0p+0, -0x1.1c01bf1022273p-9, -0x1.1961ce249eaap-5, -0x1.6e8668a78a5b7p-3, -0x1.27a4fad5e7e5p-2,
       0x1.cf855d514d979p-4, 0x1.8c2eafd2bdcabp-4, -0x1.e86ecf21333a7p-5, -0x1.e66291c1e9edbp-6, 0x1.d74c213cced49p-6,
       0x1.ec9c18536d3b3p-9, 0x0p+0},
      {0x0p+0, -0x1.4d02b2cbc6f42p-8, -0x1.eb65fad3e93e6p-5, -0x1.d78158f1b4751p-3, -0x1.071e41358c684p-2,
       0x1.1e0db4123e89fp-3, 0x1.284442a594173p-4, -0x1.1c36bb04941d3p-4, -0x1.e681b12c482e9p-7, 0x1.f8a1abd4ed877p-6,
       -0x1.e04a0bc7ced5cp-9, 0x0p+0},
      {0x0p+0, -0x1.40cebe2b35e42p-7, -0x1.77545a853872ap-4, -0x1.19921f432982ap-2, -0x1.c1a4b039e6aeep-3,
       0x1.43d344a80f47ep-3, 0x1.74c980131429cp-5, -0x1.2954cb3215659p-4, -0x1.3b9444efaeb19p-16, 0x1.d4d9323a556aap-6,
       -0x1.36d9acdc045c1p-7, 0x0p+0},
      {0x0p+0, -0x1.10ac217370501p-6, -0x1.070113fa969b9p-3, -0x1.3fd54e226f887p-2, -0x1.6dc4f6e9069efp-3,
       0x1.584c5e8587deap-3, 0x1.31a9a2cf36652p-6, -0x1.1d58138e49564p-4, 0x1.a768d8849a73cp-7, 0x1.7b3c57452c22fp-6,
       -0x1.a7a56e63e942cp-7, 0x0p+0},
      {0x1.a5729ee488037p-2, 0x1.c4432e052be62p-57, 0x1.a945b9c24e4f9p-1, -0x1.5e0f09bef8016p-2, -0x1.16e1e6d8d1733p-3,
       0x1.5c26f36940baap-3, -0x1.90d6a52a39c26p-8, -0x1.f9d061e1a89c2p-5, 0x1.7360fa520b0dcp-6, 0x1.02334bae2ebb1p-6,
       -0x1.c5d6c141de0dp-7, 0x0p+0},
      {0x1.d9353d7568af3p-2, 0x1.94625dc7c3b56p-56, 0x1.92a946fa34394p-1, -0x1.742740ed7f232p-2, -0x1.81d97b812947bp-4,
       0x1.51418dbec56fp-3, -0x1.be02ecdd46e73p-6, -0x1.9cc89ebb1c7cp-5, 0x1.d4c0478bf9107p-6, 0x1.028cd41262291p-7,
       -0x1.9e3d99b4da798p-7, 0x0p+0},
      {0x1.05086f2f6d4b7p-1, -0x1.89f7f55a958ffp-55, 0x1.7aeae68113f1ap-1, -0x1.825df8eada3f5p-2, -0x1.bd0aa7449e35p-5,
       0x1.3a4d4c03cdc64p-3, -0x1.65e37c77090ebp-5, -0x1.314c99f6ad287p-5, 0x1.f8ac732c13a58p-6, 0x1.85d24155b917p-11,
       -0x1.47f2222fdcb82p-7, 0x0p+0},
      {0x1.1bf47eabb8f95p-1, 0x1.22363525d78d7p-55, 0x1.6284c3374f815p-1, -0x1.893b59c35c927p-2, -0x1.2426c75141a2cp-6,
       0x1.1a686f614e9b4p-3, -0x1.c3c01816c7c3dp-5, -0x1.87d5460170107p-6, 0x1.e838fb25f5a68p-6, -0x1.401957f0c6e04p-8,
       -0x1.b91bf5b1e5f5bp-8, 0x0p+0},
      {0x1.3157dfe9f715bp-1, 0x1.ff3b25133c441p-56, 0x1.49e6bf25462f7p-1, -0x1.897d27b3e041fp-2, 0x1.d76d9cfd0a001p-7,
       0x1.e98228df43733p-4, -0x1.f9d8d93c2d62fp-5, -0x1.7a7ea2f7632ebp-7, 0x1.b137b34f5488fp-6, -0x1.1b2f71c473382p-7,
       -0x1.c869804ac721dp-9, 0x0p+0},
      {0x1.45323e552f228p-1, 0x1.39f33edbdccd3p-56, 0x1.3173b1efa6ef5p-1, -0x1.8403d3dda8838p-2, 0x1.568057c9603eap-5,
       0x1.989565ca58603p-4, -0x1.064ad90a415b1p-4, -0x1.05e32f8e8c58ep-10, 0x1.62d672ac56636p-6, -0x1.59fd9a176b905p-7,
       -0x1.7c221cf77c738p-11, 0x0p+0},
      {0x1.5788ff10d2998p-1, 0x1.ba505edbb6741p-55, 0x1.197fcd9875d33p-1, -0x1.79c0e0d54c3d1p-2, 0x1.072d03e934ebap-4,
       0x1.4716c3390582bp-4, -0x1.012596a888a91p-4, 0x1.ded8fd6bdde46p-8, 0x1.0afeb8e43a6cbp-6, -0x1.65e3da00f7387p-7,
       0x1.56aaf71ed3c3ep-10, 0x0p+0},
      {0x1.686650b8c2015p-1, 0x1.9fbdf5148779cp-57, 0x1.02500a09f8d6ep-1, -0x1.6ba7cb7576568p-2, 0x1.4f152b2bb9f69p-4,
       0x1.f203c30c40362p-5, -0x1.e21968d00a8dbp-5, 0x1.b2c8c8dabf033p-7, 0x1.697a2d9c36f01p-7, -0x1.4c7f9c0aee8b3p-7,
       0x1.516cabffa9df6p-9, 0x0p+0},
      {0x1.77d838e34057cp-1, 0x1.876f0a01ac231p-56, 0x1.d834d2b62d5e2p-2, -0x1.5aa21b14b0e57p-2, 0x1.8434b35518fcap-4,
       0x1.6269dd7104f4cp-5, -0x1.b3055f102e92ap-5, 0x1.17261b9b92b6ap-6, 0x1.9e91c0ca114cdp-8, -0x1.1c0d13cdc5ep-7,
       0x1.9f17dcbcf3dafp-9, 0x0p+0},
      {0x1.85efab514f394p-1, 0x1.501092dd679bp-55, 0x1.ae0dc0f990c3fp-2, -0x1.4786c26f13e41p-2, 0x1.a85d22e9c8213p-4,
       0x1.c60916fe392d1p-6, -0x1.7b59d5e833ebap-5, 0x1.3608fc49151a7p-6, 0x1.3e8f6215727acp-9, -0x1.bf3ed8beb960bp-8,
       0x1.9b226b4ea5304p-9, 0x0p+0},
      {0x1.9e5cb5ba44d69p-1, 0x1.5690fa76e212cp-56, 0x1.615002a66a76dp-2, -0x1.1defabec5ad9dp-2, 0x1.c68cf167e56b8p-4,
       0x1.ac29589bccd76p-9, -0x1.05e15917c48abp-5, 0x1.30666635377ddp-6, -0x1.5cf628e4df5c2p-9, -0x1.aabf2722a4ad4p-9,
       0x1.26abfcd70c423p-9, 0x0p+0},
      {0x1.b2523bb6b2deep-1, 0x1.248dce57922d1p-56, 0x1.1f25131e3a8b5p-2, -0x1.e7291743d46c7p-3, 0x1.bba40cbc10109p-4,
       -0x1.9c79fd308ec99p-7, -0x1.3a7a55bef6fp-6, 0x1.f1dc0f8a58885p-7, -0x1.3393c998e41ecp-8, -0x1.8906d1dda65f5p-11,
       0x1.3ea26bf96af5p-10, 0x0p+0},
      {0x1.c278a52a4e478p-1, -0x1.3b3745b18d69ep-55, 0x1.cea744f80526ap-3, -0x1.970e081146f9ap-3, 0x1.97d6fc0f9938fp-4,
       -0x1.5dd5741a86626p-6, -0x1.337d390e6208dp-7, 0x1.670f44b010a0ap-7, -0x1.39d9a7dc68eeap-8, 0x1.2fc2f68a5641ep-11,
       0x1.dbbca1f27f3a1p-12, 0x0p+0},
      {0x1.cf6f9786df577p-1, 0x1.7fa528b35af82p-55, 0x1.72165282c6f6bp-3, -0x1.4efbd8fb37f5p-3, 0x1.67b1f6905bca1p-4,
       -0x1.99050c8c6c867p-6, -0x1.5c9e19edf5d1dp-9, 0x1.d0f47c945375ep-8, -0x1.0446f98c721b3p-8, 0x1.1572dacda87dap-10,
       0x1.721526b5fed2dp-16, 0x0p+0},
      {0x1.d9c6fafe61c78p-1, 0x1.463c9db018b54p-55, 0x1.265e33ad862f2p-3, -0x1.10646d7a0a6cfp-3, 0x1.33de79e53b9fbp-4,
       -0x1.9d29920c5c5a1p-6, 0x1.8287b3d334a3ap-10, 0x1.0bc641621d861p-8, -0x1.7d305a021be21p-9, 0x1.16e79562a7fdp-10,
       -0x1.5797d6d1c121fp-13, 0x0p+0},
      {0x1.e1fbf97e33527p-1, -0x1.f8f7b475cd971p-56, 0x1.d22ca1c24a139p-4, -0x1.b6d85a01efb1dp-4, 0x1.01ba038be3545p-4,
       -0x1.8157e26ab8719p-6, 0x1.e47098a9e0c13p-9, 0x1.0379d8b70d35dp-9, -0x1.fc1fcb066d082p-10, 0x1.c83fba99a68cep-11,
       -0x1.b32c41a392048p-13, 0x0p+0},
      {0x1.e8789ecec0ddap-1, 0x1.7e90e112cc9e9p-55, 0x1.6fcfa6d9f1694p-4, -0x1.5ee891c870fd6p-4, 0x1.a85b92b2f7266p-5,
       -0x1.55d5bf8a37225p-6, 0x1.2fa9378223345p-8, 0x1.4a6bbd5562069p-11, -0x1.3665cf3118a27p-10,
       0x1.4c1d90897033dp-11, -0x1.851909c66e01ap-13, 0x0p+0},
      {0x1.ed9505e1bc3d4p-1, -0x1.6506143105a94p-56, 0x1.2162c262e051dp-4, -0x1.16f9d2bcd43d6p-4, 0x1.58f4ff0f329e6p-5,
       -0x1.2520da2ee4356p-6, 0x1.3957bedd85f4bp-8, -0x1.4dbb8129e1e1ap-13, -0x1.568a0a6cb329ap-11,
       0x1.bd1435818f719p-12, -0x1.2af4458c02c9fp-13, 0x0p+0},
      {0x1.f1994df724fc8p-1, 0x1.a8fd3ec63798fp-56, 0x1.c65b1bc0c9d6p-5, -0x1.b9937bda74f82p-5, 0x1.15b42d9f35dfbp-5,
       -0x1.eacd8ebdb3663p-7, 0x1.263a23adfb8c3p-8, -0x1.2a0b9d15d820fp-11, -0x1.42599dbbc167dp-12,
       0x1.15e4278c48194p-12, -0x1.a31ee02246624p-14, 0x0p+0},
      {0x1.f4bfd6c2dfd1ep-1, 0x1.323a76107c516p-56, 0x1.64108aa4d5fe6p-5, -0x1.5c3d90eb21b5ap-5, 0x1.bbccd8b165956p-6,
       -0x1.93c692fac29c1p-7, 0x1.055f8f479b26fp-8, -0x1.82de3ea645166p-11, -0x1.97f54ee0ff9b2p-14,
       0x1.42840c81e10e8p-13, -0x1.12c2bfd77fea9p-14, 0x0p+0},
      {0x1.f73776b2aa2dbp-1, 0x1.6f9b7d0b593e1p-55, 0x1.16a7fc4d7b909p-5, -0x1.11e03803ada4cp-5, 0x1.60959159b016fp-6,
       -0x1.47e74ef7d971cp-7, 0x1.bff780c174a16p-9, -0x1.91d6843758215p-11, 0x1.5a8084b74411p-16, 0x1.545511fbae98fp-14,
       -0x1.54171d0eb6dc1p-15, 0x0p+0},
      {0x1.f9258260a71c2p-1, -0x1.c42649d901306p-56, 0x1.b3afe1fba5c7ep-6, -0x1.addae58c71995p-6, 0x1.16df44874a4e3p-6,
       -0x1.07b55c30533ecp-7, 0x1.7682b9995f543p-9, -0x1.793b217ef07a1p-11, 0x1.4e17f4dca39cdp-14,
       0x1.30c9f9b17183ap-15, -0x1.8cd5d983f6c71p-16, 0x0p+0},
      {0x1.faa7934b75ebdp-1, 0x1.b868bf058e6aap-62, 0x1.545200830a436p-6, -0x1.50c46d285fa33p-6, 0x1.b79f5bfc966bdp-7,
       -0x1.a50adaf04fabep-8, 0x1.33a1a2434f1d8p-9, -0x1.4e627aa80c7eep-11, 0x1.b079a2309ccccp-14,
       0x1.59247747913fbp-17, -0x1.ae256c41ee45bp-17, 0x0p+0},
      {0x1.fbd509ae7ae3ep-1, 0x1.96a665ef6dd7fp-55, 0x1.09a7a5dc88714p-6, -0x1.077e0c025ba28p-6, 0x1.5997790cc8d3ep-7,
       -0x1.4e3bda36baa62p-8, 0x1.f2edf43a3b76ep-10, -0x1.1dd29251cefdap-11, 0x1.be7914c1ad7cfp-14,
       -0x1.f922aaa6f2e91p-19, -0x1.9f36f73b30a0fp-18, 0x0p+0},
      {0x1.fcc04cdbcdc4cp-1, -0x1.0c3ce86c09762p-55, 0x1.9e87d088d26a2p-7, -0x1.9be6721012dep-7, 0x1.0f1c13e8e3e65p-7,
       -0x1.082dbc9e739fp-8, 0x1.90bea02e004aap-10, -0x1.dcc405a4130acp-12, 0x1.a0bbaf4dc0dbcp-14,
       -0x1.5ff0ed2fd9b09p-17, -0x1.37400e22a59b3p-19, 0x0p+0},
      {0x1.fd77d111a0bp-1, -0x1.a6ca7c44b6163p-57, 0x1.434a517bbc6cdp-7, -0x1.41b109ca791fdp-7, 0x1.a8acaf84c45fcp-8,
       -0x1.a03a109e9ef34p-9, 0x1.3f942cd5f221ep-10, -0x1.86d7ba5749448p-12, 0x1.70452fd8aadddp-14,
       -0x1.c2686c955ab7bp-17, 0x1.c05fdf54b49f9p-22, 0x0p+0},
      {0x1.fe76795d353ap-1, 0x1.5c68a28291428p-55, 0x1.88ef67211da3cp-8, -0x1.87c1640ae0a0ep-8, 0x1.0399d16086d1ap-8,
       -0x1.0078fb3fcdb5ep-9, 0x1.906589707973dp-11, -0x1.fb8355d2a88aep-13, 0x1.0453d72646738p-14,
       -0x1.96ac7ce94a70bp-17, 0x1.78d55bb10d64fp-20, 0x0p+0},
      {0x1.ff112c63a9077p-1, 0x1.d99d2cbd44b66p-56, 0x1.dd37d19b22ab2p-9, -0x1.dc59376c734d2p-9, 0x1.3c6869ddf6ae2p-9,
       -0x1.3a18d51b110fdp-10, 0x1.ef2ecd71fac0ap-12, -0x1.4054ad45c9439p-13, 0x1.57b923cd1066ep-15,
       -0x1.29ac6c4330e98p-17, 0x1.5bf93ff7ff25ap-20, 0x0p+0},
      {0x1.ff6f17a754772p-1, 0x1.888ea48a99923p-59, 0x1.21a7ae3bc0cf1p-9, -0x1.2155b3a0926bbp-9, 0x1.80ed2c4610dc4p-10,
       -0x1.7f38daa53a4dep-11, 0x1.2fdaf5f3115fbp-12, -0x1.8de2706857a0cp-14, 0x1.b5d7167b63db1p-16,
       -0x1.8f7ed35936a12p-18, 0x1.004e4a8e8530fp-20, 0x0p+0},
      {0x1.ffa81708a0b42p-1, 0x1.6179a96d81dfdp-57, 0x1.5f85ad510b5bep-10, -0x1.5f495227a1372p-10,
       0x1.d3c0e4798d9cap-11, -0x1.d27f645334111p-12, 0x1.7330b60ba0997p-13, -0x1.e98c75ba18d2ep-15,
       0x1.11522293fef37p-16, -0x1.00a0af616cdf1p-18, 0x1.58cdaba5020f4p-21, 0x0p+0},
      {0x1.ffcaac3f20e66p-1, -0x1.1a0caf65cd834p-56, 0x1.aa87cf6646fap-11, -0x1.aa5b62918aa32p-11,
       0x1.1c01b5368d62cp-11, -0x1.1b8b53b6744c1p-12, 0x1.c430e89fa3bedp-14, -0x1.2b78a02c0b52dp-15,
       0x1.514bcd300abedp-17, -0x1.41ee0ef63fd41p-19, 0x1.bb783ca237438p-22, 0x0p+0},
      {0x1.ffdfa72153983p-1, 0x1.dc1c0d7527461p-55, 0x1.02bec8b634542p-11, -0x1.02ae6fe049f2bp-11,
       0x1.58bcffa5eb0cdp-12, -0x1.5865d96f721efp-13, 0x1.12f9219c6fc84p-14, -0x1.6d2764f42c7c2p-16,
       0x1.9d666760637acp-18, -0x1.8e6096bb1b4d4p-20, 0x1.164f3128c7998p-22, 0x0p+0},
      {0x1.ffec61279a3a4p-1, 0x1.faf93f6a83ffcp-55, 0x1.39e782819fb27p-12, -0x1.39db7b071a88ap-12,
       0x1.a259e651a9834p-13, -0x1.a219c13f9d223p-14, 0x1.4e142f9b969efp-15, -0x1.bc5649cc85963p-17,
       0x1.f89af4eea315fp-19, -0x1.e90de044461f8p-21, 0x1.587fb41081337p-23, 0x0p+0},
      {0x1.fff419668df11p-1, 0x1.a7638a054bfd1p-56, 0x1.7ccec13a9e718p-13, -0x1.7cc5e7466256dp-13, 0x1.fb9aef878cf4p-14,
       -0x1.fb6bba4415ccp-15, 0x1.95a3ff274a8e8p-16, -0x1.0e03669e8837dp-17, 0x1.3335c15a006dcp-19,
       -0x1.2ac3679a1e844p-21, 0x1.a6fb42bbf8314p-24, 0x0p+0},
      {0x1.fff8c81c6dc34p-1, -0x1.be59f864ffa58p-57, 0x1.cdf5a2e4d730ep-14, -0x1.cdef1f9bcd2cap-14,
       0x1.33ec10c2b29a9p-14, -0x1.33dab1c025fdep-15, 0x1.ec5934068007ap-17, -0x1.47eae4375df94p-18,
       0x1.75832a7a60128p-20, -0x1.6bfe023dda455p-22, 0x1.026c884d32462p-24, 0x0p+0},
      {0x1.fffb9f2fc1e91p-1, 0x1.c6e1aa892025p-55, 0x1.1832dcd3cdap-14, -0x1.1830777284e74p-14, 0x1.758f90edcca6ep-15,
       -0x1.7582c81731d3p-16, 0x1.2aba5f41fa657p-17, -0x1.8e0f5be575c45p-19, 0x1.c5b7add91433ep-21,
       -0x1.bab42a066c25p-23, 0x1.3adcf89e470d9p-25, 0x0p+0},
      {0x1.fffd583014825p-1, 0x1.42dd0fa45fc07p-57, 0x1.53e71416c3cabp-15, -0x1.53e550c7b6122p-15,
       0x1.c52d0d8897ae2p-16, -0x1.c523a4977dfadp-17, 0x1.6a739dba4993fp-18, -0x1.e3130062e4afp-20,
       0x1.136c58cb8588p-21, -0x1.0cf09dfeea36ep-23, 0x1.7ef6a9978ef73p-26, 0x0p+0},
      {0x1.fffe63abe253cp-1, -0x1.1242e7ead1319p-56, 0x1.9c5377a48b45dp-16, -0x1.9c522b958d1c9p-16,
       0x1.12dfb7a0acfebp-16, -0x1.12dc40e8c26f3p-17, 0x1.b7bb6d254d4f9p-19, -0x1.2512f3bc80e5dp-20,
       0x1.4e46367ee80e4p-22, -0x1.468df2b64a516p-24, 0x1.d14e2fc6bdf65p-27, 0x0p+0},
      {0x1.ffff05e8d3192p-1, -0x1.b5aed2359e315p-55, 0x1.f42ddfa52aadap-17, -0x1.f42ceb5405734p-17,
       0x1.4d7201c5b521ep-17, -0x1.4d6f74c03c907p-18, 0x1.0abb4dca97d31p-19, -0x1.63925d8053178p-21,
       0x1.959e9a7264d21p-23, -0x1.8c5c912c419e7p-25, 0x1.1a7f3685d4501p-27, 0x0p+0},
      {0x1.ffff684fec9b9p-1, -0x1.99eca7ea235eep-57, 0x1.2f5ff9d84b269p-17, -0x1.2f5f9ff71806dp-17,
       0x1.947e903e7a1c1p-18, -0x1.947caf0ba3176p-19, 0x1.4393b8ab690d2p-20, -0x1.af5eeaa52a53bp-22,
       0x1.ec2204a0e4446p-24, -0x1.e0fb1a68ffddcp-26, 0x1.56e36de0509a9p-28, 0x0p+0},
      {0x1.ffffa3ff22708p-1, 0x1.bb4ac5a9f0181p-56, 0x1.7003552d52d2cp-18, -0x1.7003130c0649ap-18,
       0x1.eaae13ada0e4ap-19, -0x1.eaacb0bf54b9dp-20, 0x1.8887ab4e34cb8p-21, -0x1.05a78bb71c3c3p-22,
       0x1.2a8700246a3a6p-24, -0x1.23cacbda32771p-26, 0x1.a017eff67be92p-29, 0x0p+0},
      {0x1.ffffc832750f2p-1, -0x1.330abfc857a0dp-56, 0x1.be6c3f33005b7p-19, -0x1.be6c0e77be719p-19,
       0x1.299d1bb55d3eep-19, -0x1.299c54d6f56bep-20, 0x1.dc2320e29cc09p-22, -0x1.3d1952ebc1783p-23,
       0x1.66b3beaf55bb1p-25, -0x1.4d1d159cea6bep-27, 0x1.8c7cc2b983a24p-30, 0x0p+0},
      {0x1.ffffeb78a3c73p-1, 0x1.c6d2adbaa457ep-56, 0x1.4875bcf6f3b77p-20, -0x1.4875afbd3a64p-20, 0x1.b5f21901978c2p-21,
       -0x1.b5f16d04fadaap-22, 0x1.5e53fc95a3b5p-23, -0x1.d2a1d9a6f4684p-25, 0x1.07ef638433e2p-26,
       -0x1.ea3cbdac7a3aep-29, 0x1.23c497abb0063p-31, 0x0p+0},
      {0x1.fffff872a91f8p-1, 0x1.a39528793511cp-55, 0x1.e355b48da75eep-22, -0x1.e355ad57872aap-22,
       0x1.423912207ebafp-22, -0x1.4238b43e48524p-23, 0x1.01c2328df399p-24, -0x1.575540238e553p-26,
       0x1.8464f22929876p-28, -0x1.68b612c3a889ep-30, 0x1.ad5e3f395a1bep-33, 0x0p+0},
      {0x1.fffffd38c39fp-1, 0x1.590a97f059df4p-56, 0x1.639e2f87891eap-23, -0x1.639e2d8a1025fp-23, 0x1.da2833c109567p-24,
       -0x1.da27bb4802998p-25, 0x1.7b4c151fa1624p-26, -0x1.f9390fe9802ebp-28, 0x1.1dc45c9499531p-29,
       -0x1.096686ac33dacp-31, 0x1.3beb28b85aa05p-34, 0x0p+0},
      {0x1.fffffefa59d78p-1, -0x1.dfa2b6e78c5f6p-56, 0x1.05a62840ce4cdp-24, -0x1.05a627afb5e49p-24,
       0x1.5cdd860bad2f3p-25, -0x1.5cdd32311aa2bp-26, 0x1.17124ed40944p-27, -0x1.73b90ccbf85d4p-29,
       0x1.a4833a4514ba1p-31, -0x1.868b306e8a06ep-33, 0x1.d0e239ada8022p-36, 0x0p+0},
      {0x1.ffffff9fbea41p-1, -0x1.d29cbef153033p-56, 0x1.81056faa43911p-26, -0x1.81056f5120ef7p-26,
       0x1.00ae47c4490d5p-26, -0x1.00ae0b5da1c41p-27, 0x1.9aa8a85844d17p-29, -0x1.117fa16608a1p-30,
       0x1.3565707f8027fp-32, -0x1.1f58ba0be5d31p-34, 0x1.560b194f8ed11p-37, 0x0p+0},
      {0x1.ffffffdc96f35p-1, 0x1.54a2099f503a8p-55, 0x1.1b48654b883bcp-27, -0x1.1b48652b9d616p-27,
       0x1.79b5d8fb0c1c4p-28, -0x1.79b580ccf82bp-29, 0x1.2e255a34d5532p-30, -0x1.9275446322b01p-32,
       0x1.c74842e43928bp-34, -0x1.a6d5ff5db927p-36, 0x1.f752cd062331fp-39, 0x0p+0},
      {0x1.fffffff2f9279p-1, 0x1.eee3861a9cc2ap-55, 0x1.a0db0d031dc1cp-29, -0x1.a0db0ce65f90ap-29,
       0x1.15e75ba3b86cap-29, -0x1.15e71af339a0ep-30, 0x1.bc9cf369f9796p-32, -0x1.281cb466ae989p-33,
       0x1.4efa6004221edp-35, -0x1.371af9e663cacp-37, 0x1.7253291c0f843p-40, 0x0p+0},
      {0x1.fffffffb352ddp-1, 0x1.0573066803c24p-59, 0x1.32b48bee1fab6p-30, -0x1.32b48bdde8974p-30,
       0x1.98f0b72a4c092p-31, -0x1.98f0581388b33p-32, 0x1.4720c6e014513p-33, -0x1.b3bbf915a0f8fp-35,
       0x1.eced17f914f6dp-37, -0x1.c9cc10f1a1dap-39, 0x1.107847331794p-41, 0x0p+0},
      {0x1.fffffffe3cad8p-1, 0x1.bd86a485ed329p-57, 0x1.c3527e418ca3ap-32, -0x1.c3527e2c5bd8ap-32,
       0x1.2ce1a70465f93p-32, -0x1.2ce161151ce3ap-33, 0x1.e15fed732a648p-35, -0x1.409869b06e297p-36,
       0x1.6aacbf9d0f94fp-38, -0x1.50d40cc626f29p-40, 0x1.90f1b8dedd9d8p-43, 0x0p+0},
      {0x1.ffffffff59f7cp-1, 0x1.c068cf1a807b7p-56, 0x1.4c1078fe0b1c6p-33, -0x1.4c1078ef2cccbp-33,
       0x1.bac09daccbe59p-34, -0x1.bac036c7a5bedp-35, 0x1.622cfc4747851p-36, -0x1.d7c303950c871p-38,
       0x1.0ad75952b6976p-39, -0x1.efa61be685404p-42, 0x1.26ff8f71e5d4ep-44, 0x0p+0},
      {0x1.ffffffffc2eb9p-1, 0x1.6e88129ba94b8p-58, 0x1.e8a37a4599a31p-35, -0x1.e8a37a301cbfp-35, 0x1.45c24ed55ebd7p-35,
       -0x1.45c20321adc3cp-36, 0x1.049682eee9a5ep-37, -0x1.5b1a58ae46479p-39, 0x1.88a95d1efd058p-41,
       -0x1.6cad950b665c8p-43, 0x1.b218601dc17ebp-46, 0x0p+0},
      {0x1.ffffffffe987bp-1, -0x1.538003e1ec031p-56, 0x1.67852a6fda7c2p-36, -0x1.67852a6026444p-36,
       0x1.df5c34a390d0cp-37, -0x1.df5bc53e91ff1p-38, 0x1.7f75b3e610f84p-39, -0x1.fec4a2a696e3bp-41,
       0x1.20e77c7fddc4ep-42, -0x1.0c50aba3e30fbp-44, 0x1.3f63b0864d2b6p-47, 0x0p+0},
      {0x1.fffffffff7bbdp-1, 0x1.acf133bbed752p-55, 0x1.088529874dd7cp-37, -0x1.0885297bc7451p-37,
       0x1.60b189cdb7e4dp-38, -0x1.60b137d83d0f6p-39, 0x1.1a2249a8cd25p-40, -0x1.77cd5b1cb851p-42,
       0x1.a920b2b2a7057p-44, -0x1.8ad499515c79dp-46, 0x1.d5fcb8c8006b4p-49, 0x0p+0},
      {0x1.fffffffffcf58p-1, 0x1.fc5256cca1f9bp-57, 0x1.853f01d6b2d7ep-39, -0x1.853f01c5c0fecp-39,
       0x1.037f546cb98d4p-39, -0x1.037f181f74bedp-40, 0x1.9f2a43f66d087p-42, -0x1.147ff1f4e1acep-43,
       0x1.38ca9fd0fe25dp-45, -0x1.228001657b9b6p-47, 0x1.59cc18c776212p-50, 0x0p+0},
      {0x1.fffffffffee1ap-1, -0x1.0aebae17200afp-55, 0x1.1e642baea00fdp-40, -0x1.1e642ba22986ep-40,
       0x1.7ddae1c4cd4e5p-41, -0x1.7dda89089beffp-42, 0x1.31761ef0dc0cbp-43, -0x1.96dfd52e2109p-45,
       0x1.cc473b6d73207p-47, -0x1.ab79d75654efap-49, 0x1.fcd8c7f3100b4p-52, 0x0p+0},
      {0x1.ffffffffff96ap-1, 0x1.1f3d3bee93cbbp-55, 0x1.a56e0bfdb0694p-42, -0x1.a56e00236d96dp-42,
       0x1.18f34688a8a0ap-42, -0x1.18e8e39a1cad6p-43, 0x1.c0d079aced2f5p-45, -0x1.282fc0c15b7a3p-46,
       0x1.410e65883ee9p-48, -0x1.04a9722a4b5b1p-50, 0x1.d1d3c29c4c73bp-54, 0x0p+0},
      {0x1.fffffffffff1cp-1, -0x1.193ddebaf3f7fp-56, 0x1.c8464f4544972p-45, -0x1.c846427020e9fp-45,
       0x1.302e0e0eceed1p-45, -0x1.3022cf478f114p-46, 0x1.e5ec604fac217p-48, -0x1.40ad085bf6572p-49,
       0x1.5b9a15b7e59a5p-51, -0x1.1a36c9aa2317p-53, 0x1.f857c414eed75p-57, 0x0p+0},
      {0x1.fffffffffffe1p-1, 0x1.ffe110e313c8cp-57, 0x1.ee001eb887b04p-48, -0x1.ee0010d3c4a16p-48, 0x1.4954870a2b36p-48,
       -0x1.49485a3ccc397p-49, 0x1.070ce00f67bdap-50, -0x1.5b30abace7d2cp-52, 0x1.7857a7ed4d3b6p-54,
       -0x1.318c50dcae28fp-56, 0x1.11058278a2307p-59, 0x0p+0},
      {0x1.ffffffffffffcp-1, -0x1.6d875fd9ae0adp-56, 0x1.0b6c3ae141277p-50, -0x1.0b6c335bd53e3p-50,
       0x1.648f58fb6fc7ep-51, -0x1.64822a79c5b92p-52, 0x1.1cccc5799989ap-53, -0x1.77e5869de80fap-55,
       0x1.97759157b039dp-57, -0x1.4acfbfb2ce256p-59, 0x1.279876a18d31p-62, 0x0p+0},
      {0x1.fffffffffffffp-1, 0x1.bceea52833341p-55, 0x1.2188ad4be8ae8p-53, -0x1.2188a5274a073p-53,
       0x1.820a87e760e7ap-54, -0x1.81fc4262aea7ep-55, 0x1.345908a7ab71dp-56, -0x1.96fa00476ba1bp-58,
       0x1.b9261e813f9fcp-60, -0x1.6629ec7d603ccp-62, 0x1.40093bf0c1bd2p-65, 0x0p+0},
  };
};
template <class D, class V>
HWY_INLINE V tanh_by_rows(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  constexpr int kDropped = ExpLog<double>::mantissa_bits - 4;
  constexpr uint64_t kBitsOf1 = 0x3FF0000000000000;
  const V one = hn::Set(d, 1.0), farthest = hn::Set(d, TangentRows::farthest), size = hn::Abs(x);
  const V bounded = hn::Min(farthest, size);  // NaN stays; its row is that of `farthest`
  const auto number = hn::ShiftRight<kDropped>(hn::BitCast(du, hn::Add(hn::Min(size, farthest), one)));
  const V start = hn::Sub(hn::BitCast(d, hn::ShiftLeft<kDropped>(number)), one);
  const LaneRows lanes(TangentRows::rows, hn::BitCast(d, hn::Sub(number, hn::Set(du, kBitsOf1 >> kDropped))));
  const auto is_small = hn::Le(start, hn::Set(d, TangentRows::last_small));
  return hn::CopySign(value_of_rows<11>(d, lanes, hn::Sub(bounded, start), is_small, bounded), x);
}
#endif

/// The share of the standard normal distribution above `size`, up to `farthest`. It falls faster and faster, and the
/// intervals become shorter: their number is (size + 5/2)^2 / width.
template <class T, int kIntervals>
struct TailPieces;
template <>
struct TailPieces<float, 8> {
  static constexpr float farthest = 5.62f, width = 8;
  alignas(64) static constexpr float rows[][8] = {
      {0x1.6ec034p+2f, 0x1.dc65eep-1f, 0x1.f31a82p+0f, 0x1.6497p+1f, 0x1.bf9114p+1f, 0x1.079bfep+2f, 0x1.2c4504p+2f,
       0x1.4f1b5p+2f},
      {0x1.58197ep-28f, 0x1.6894d8p-3f, 0x1.a39a5p-6f, 0x1.5ddf3ap-9f, 0x1.ee172ep-13f, 0x1.3f58f6p-16f,
       0x1.6ba218p-20f, 0x1.604f14p-24f},
      {-0x1.fb2d2ep-26f, -0x1.08faap-2f, -0x1.e88f02p-5f, -0x1.0dd2bp-7f, -0x1.cefccep-11f, -0x1.5a6b1cp-14f,
       -0x1.bc6f94p-18f, -0x1.dcf2dap-22f},
      {0x1.6b4c98p-24f, 0x1.ed1b9p-4f, 0x1.dc406ep-5f, 0x1.77d8bap-7f, 0x1.94b84ep-10f, 0x1.64b6fcp-13f,
       0x1.04a55ap-16f, 0x1.382b6p-20f},
      {-0x1.50495p-23f, 0x1.7b7234p-8f, -0x1.c8307ep-6f, -0x1.3002aap-7f, -0x1.b12dc4p-10f, -0x1.cce8b4p-13f,
       -0x1.851664p-16f, -0x1.0667fap-19f},
      {0x1.c5db9cp-23f, -0x1.5ec6dep-6f, 0x1.fae378p-9f, 0x1.2ac166p-8f, 0x1.36ceb4p-10f, 0x1.9ee628p-13f,
       0x1.9d424cp-16f, 0x1.3ea998p-19f},
      {-0x1.c15b4cp-23f, 0x1.97724cp-9f, 0x1.57965p-9f, -0x1.239bcap-10f, -0x1.34c36p-11f, -0x1.12401ep-13f,
       -0x1.46e102p-16f, -0x1.1d810ep-19f},
      {0x1.cf1d72p-23f, 0x1.2fd768p-9f, -0x1.7a7642p-10f, -0x1.e2e54ep-18f, 0x1.560a2cp-13f, 0x1.fe2b48p-15f,
       0x1.a63454p-17f, 0x1.e688fp-20f},
      {-0x1.446b22p-25f, -0x1.ac36e2p-11f, 0x1.5c32bep-15f, 0x1.038ff6p-12f, -0x1.9863cap-15f, -0x1.a3b8b2p-16f,
       -0x1.35d884p-18f, -0x1.ee8904p-22f},
      {0x1.5bd236p-23f, -0x1.5a011ep-12f, 0x1.54906p-13f, -0x1.b76aaep-18f, -0x1.0c606p-15f, 0x1.e1cb28p-20f,
       0x1.beab54p-19f, 0x1.f467aep-21f},
  };
};
template <>
struct TailPieces<float, 16> {
  static constexpr float farthest = 5.62f, width = 4;
  alignas(64) static constexpr float rows[][16] = {
      {0x1.673b16p+2f, 0x0p+0f, 0x1.4a31dp-1f, 0x1.3c8ff6p+0f, 0x1.bd0872p+0f, 0x1.171498p+1f, 0x1.4a658p+1f,
       0x1.7b157cp+1f, 0x1.a9761ap+1f, 0x1.d3c624p+1f, 0x1.fc23e2p+1f, 0x1.11b7a8p+2f, 0x1.241be4p+2f, 0x1.35eee2p+2f,
       0x1.46c938p+2f, 0x1.57adeep+2f},
      {0x1.55a7fcp-27f, 0x0p+0f, 0x1.09b85cp-2f, 0x1.badf42p-4f, 0x1.50708ap-5f, 0x1.def87cp-7f, 0x1.429ac4p-8f,
       0x1.9125fap-10f, 0x1.d15f4cp-12f, 0x1.0e37acp-13f, 0x1.2da6dap-15f, 0x1.3e0b8ap-17f, 0x1.507b5ep-19f,
       0x1.57d21ep-21f, 0x1.614176p-23f, 0x1.523042p-25f},
      {-0x1.edcdecp-25f, 0x0p+0f, -0x1.4bd0b4p-2f, -0x1.7c5cdp-3f, -0x1.689bb8p-4f, -0x1.2f6908p-5f, -0x1.d345f6p-7f,
       -0x1.45accp-8f, -0x1.a12c28p-10f, -0x1.07488p-11f, -0x1.3c7f86p-13f, -0x1.6504ep-15f, -0x1.90ec3cp-17f,
       -0x1.b0bd6cp-19f, -0x1.d31a8cp-21f, -0x1.d4d20cp-23f},
      {0x1.5a7b8ap-23f, 0x0p+0f, 0x1.abf53ap-4f, 0x1.d65ea2p-4f, 0x1.39736ap-4f, 0x1.4ac39ep-5f, 0x1.2d885p-6f,
       0x1.e2416p-8f, 0x1.5aa8eep-9f, 0x1.e1159ep-11f, 0x1.3a1dcp-12f, 0x1.7dbe8p-14f, 0x1.c97ee8p-16f, 0x1.05f92cp-17f,
       0x1.2a2558p-19f, 0x1.3abd3cp-21f},
      {-0x1.395648p-22f, 0x0p+0f, 0x1.01c942p-5f, -0x1.0b2c72p-6f, -0x1.e5ac1ap-6f, -0x1.7bb052p-6f, -0x1.b91b8cp-7f,
       -0x1.a5e49cp-8f, -0x1.5d5ddp-9f, -0x1.0f0a8ap-10f, -0x1.852474p-12f, -0x1.010072p-13f, -0x1.4af13p-15f,
       -0x1.943a8cp-17f, -0x1.e7502p-19f, -0x1.0f3a32p-20f},
      {0x1.a3dce2p-22f, 0x0p+0f, -0x1.76f65ap-6f, -0x1.c038c8p-7f, 0x1.4143f8p-12f, 0x1.812706p-8f, 0x1.6e068ep-8f,
       0x1.cdf4cp-9f, 0x1.d048a6p-10f, 0x1.a0062cp-11f, 0x1.4fcbb4p-12f, 0x1.eb8cep-14f, 0x1.586524p-15f,
       0x1.c62306p-17f, 0x1.2378a4p-18f, 0x1.5b6ce6p-20f},
      {-0x1.60577cp-22f, 0x0p+0f, -0x1.629d14p-9f, 0x1.ce1262p-8f, 0x1.40aa78p-8f, 0x1.a1ae3cp-11f, -0x1.0e6048p-10f,
       -0x1.3ab2fap-10f, -0x1.9ed8e2p-11f, -0x1.b2320ap-12f, -0x1.889a8ep-13f, -0x1.3658c8p-14f, -0x1.d36cf6p-16f,
       -0x1.44d27ap-17f, -0x1.bdcf94p-19f, -0x1.0c862cp-20f},
      {0x1.0e9eeep-21f, 0x0p+0f, 0x1.3d35c8p-9f, 0x1.1ee846p-9f, -0x1.4f1c64p-11f, -0x1.624962p-10f, -0x1.69999cp-11f,
       -0x1.09be1ep-14f, 0x1.6f982p-13f, 0x1.768c1ap-13f, 0x1.e2962ep-14f, 0x1.f68c34p-15f, 0x1.c5fa84p-16f,
       0x1.74367ep-17f, 0x1.19652ep-18f, 0x1.92f4d6p-20f},
  };
};
template <>
struct TailPieces<double, 16> {
  static constexpr double farthest = 8.3, width = 8;
  alignas(64) static constexpr double rows[][16] = {
      {0x0p+0, 0x1.e82a5fe3a11c9p-1, 0x1.f5a0d12cb9d34p+0, 0x1.65138c3333f3fp+1, 0x1.bf804fd010a6bp+1,
       0x1.08207270e5b15p+2, 0x1.2d0b69c450f0ep+2, 0x1.4f5060cbf8897p+2, 0x1.6fb11f924e2fcp+2, 0x1.8dc521dfb0488p+2,
       0x1.aa41376ed0128p+2, 0x1.c595d4cfd037fp+2, 0x1.dfe693c7d520ep+2, 0x1.f8d148e230597p+2, 0x1.088debba0f1bcp+3,
       0x1.143bc6513e8e3p+3},
      {0x0p+0, 0x1.5c881d2451a52p-3, 0x1.9a0f0a8e5d50cp-6, 0x1.59ca9662c60f3p-9, 0x1.ef09fa7abb1eap-13,
       0x1.345469cbf1068p-16, 0x1.56b4e92da4f6cp-20, 0x1.5a2e91fa08c49p-24, 0x1.3b7dd8075d424p-28,
       0x1.19e0d5d3fc2dbp-32, 0x1.e0f7b85a253bcp-37, 0x1.8102d113a0d43p-41, 0x1.22d505f172e85p-45,
       0x1.bb558c82b4813p-50, 0x1.3be5e1a8d48f8p-54, 0x1.bbb26c830e8cdp-59},
      {0x0p+0, -0x1.034dd890b7258p-2, -0x1.df3b4571a53cdp-5, -0x1.0afaa64089d36p-7, -0x1.cfd1027da646fp-11,
       -0x1.4f0fe394f701dp-14, -0x1.a3dbf1eeeb52fp-18, -0x1.d4ed07b7252b8p-22, -0x1.d223d51fb2856p-26,
       -0x1.c0cb8048009b9p-30, -0x1.99142e6f9e1bcp-34, -0x1.5ba0dab33dbdap-38, -0x1.1549be4f0a6d8p-42,
       -0x1.bbee5897e8c2cp-47, -0x1.4b1983b53baf7p-51, -0x1.e5074ecec0726p-56},
      {0x0p+0, 0x1.ee7750b9d980ap-4, 0x1.d58605c2f6927p-5, 0x1.7463eca8d0418p-7, 0x1.9563363a8df6p-10,
       0x1.59b2da76e8463p-13, 0x1.edbc53607f544p-17, 0x1.331ab43cca7d4p-20, 0x1.4ec1f165c4cd3p-24,
       0x1.5caa96f5e118cp-28, 0x1.5491e5fcf84afp-32, 0x1.33f78c4ceebf6p-36, 0x1.03e75db4557f6p-40,
       0x1.b5b4153255b89p-45, 0x1.5629ddc18059bp-49, 0x1.05ae90b1d2f5cp-53},
      {0x0p+0, 0x1.f70b287d2af95p-9, -0x1.c59b114e840dap-6, -0x1.2dc8bf3746c09p-7, -0x1.b1c6323f29e9ap-10,
       -0x1.bfa45a9e4b7c1p-13, -0x1.719476a951daap-16, -0x1.0265f9633c835p-19, -0x1.36d45a85ba9a2p-23,
       -0x1.5fd1c9013fbb5p-27, -0x1.7185f15e6b827p-31, -0x1.64882d0420d7cp-35, -0x1.3f092185e9f7cp-39,
       -0x1.1b15a3ddad9bbp-43, -0x1.d0909e569feb6p-48, -0x1.736eff1cae014p-52},
      {0x0p+0, -0x1.58a1e2a08c862p-6, 0x1.06cd64be00ec1p-8, 0x1.28ceaef34569ap-8, 0x1.3790b4ff5277cp-10,
       0x1.943c6b075c582p-13, 0x1.897702a4c4907p-16, 0x1.38dd03e5d874cp-19, 0x1.a28bfe2591f7bp-23,
       0x1.02cc843a7280fp-26, 0x1.2572c46c08a9fp-30, 0x1.2f05d67878f04p-34, 0x1.2034697a5caecp-38,
       0x1.0dfe98d406813p-42, 0x1.d1d4f024512e8p-47, 0x1.85e31f563382fp-51},
      {0x0p+0, 0x1.c2493d45c481cp-9, 0x1.52580f8653488p-9, -0x1.2c4086bee9481p-10, -0x1.3192cef222408p-11,
       -0x1.0a822e1d06978p-13, -0x1.3ab88207404bdp-16, -0x1.211376f6ec4aap-19, -0x1.b24d2bca33cf4p-23,
       -0x1.274f0645bb4bap-26, -0x1.6b2c24ba9fec9p-30, -0x1.92c7eedf980b3p-34, -0x1.984a3c8861829p-38,
       -0x1.94b325c8fea7bp-42, -0x1.6fb272beead97p-46, -0x1.42a228f293189p-50},
      {0x0p+0, 0x1.280dc725bf5b9p-9, -0x1.69279080268a6p-10, -0x1.2b272bdc11211p-14, 0x1.7bdfe9c28e494p-13,
       0x1.02d43106437a4p-14, 0x1.848a17d874e36p-17, 0x1.a56b823c58cd7p-20, 0x1.680d0422739d8p-23,
       0x1.0f644c7d47466p-26, 0x1.6c02483250252p-30, 0x1.b35dd6f01498fp-34, 0x1.d7d4609333f16p-38,
       0x1.f007e2b20c09ep-42, 0x1.db96f6883d036p-46, 0x1.b62f7a1049a13p-50},
      {0x0p+0, -0x1.77b821afc6c67p-11, 0x1.489ef8dbc878dp-14, 0x1.5990fc3d13a1dp-13, -0x1.61b7a49122abcp-16,
       -0x1.649267e6fac25p-16, -0x1.744f67e848d59p-18, -0x1.ed2f1d31c38d6p-21, -0x1.e79c918635e2ap-24,
       -0x1.9b9d684b45b64p-27, -0x1.2f1b0c11c684ep-30, -0x1.88d81e8186c05p-34, -0x1.c8d2350a081a7p-38,
       -0x1.fec2de2d6aa8ap-42, -0x1.02f5bea2344ddp-45, -0x1.f5f47482b8899p-50},
      {0x0p+0, -0x1.4864ab7f24a4p-13, 0x1.0d52e7609f365p-13, -0x1.a1dc9671df199p-15, -0x1.560dcb196d618p-17,
       0x1.24137621a5d11p-18, 0x1.0f4d99ff78edfp-19, 0x1.d15fb62436971p-22, 0x1.110652d030ffcp-24,
       0x1.05a03be59eaffp-27, 0x1.aaafbc877e30dp-31, 0x1.2d60b528cd87ep-34, 0x1.79a0ec26de319p-38,
       0x1.c2736c31beab3p-42, 0x1.e445aeacc1b6bp-46, 0x1.eeaea803f6b01p-50},
      {0x0p+0, 0x1.69dd5b20fe87bp-14, -0x1.2a52fadd601c7p-15, -0x1.2f7ca72fd7e6cp-21, 0x1.9351724bb6e37p-18,
       0x1.2efebcb416525p-24, -0x1.159c66d0f05e5p-21, -0x1.5e089e0763c2cp-23, -0x1.fb7f43621bdd7p-26,
       -0x1.194efa896f75bp-28, -0x1.00d260b8928e3p-31, -0x1.8e4460a4a7476p-35, -0x1.0e351a1cb5f46p-38,
       -0x1.591e255ddb9cfp-42, -0x1.8a7a4e45015a1p-46, -0x1.a9a4a36aebd03p-50},
      {0x0p+0, 0x1.7f6846b15ca03p-18, -0x1.27c692e1bf37cp-18, 0x1.35f2db58c5de9p-18, -0x1.4090f962c28eap-20,
       -0x1.beae97f3cdfcap-22, 0x1.10e2d40fb806cp-24, 0x1.92a5035bd59c3p-25, 0x1.8525b483b3825p-27,
       0x1.00a41dedae006p-29, 0x1.0a3dc678fdeebp-32, 0x1.c96242db35adep-36, 0x1.5226ea812ec32p-39,
       0x1.d07b12e39f316p-43, 0x1.1b33b585d8391p-46, 0x1.43a701267b54p-50},
      {0x0p+0, -0x1.fa2ad3e4be9e4p-18, 0x1.fa42fa7bfa9ddp-19, -0x1.1f77365553fffp-20, -0x1.d935215f95047p-24,
       0x1.428e73b543e7fp-23, 0x1.035271816de06p-26, -0x1.34bfd603eab65p-27, -0x1.def697776a8d3p-29,
       -0x1.8c12414738fdap-31, -0x1.dcbfd21cb35f5p-34, -0x1.cae4a3bc993eep-37, -0x1.740edb2ed309dp-40,
       -0x1.14009cd78de8dp-43, -0x1.67e917577552dp-47, -0x1.b441b7bc75b98p-51},
      {0x0p+0, 0x1.432db3aba0fa1p-23, -0x1.71419f032ae2fp-23, -0x1.3eafda790f727p-25, 0x1.0f3b17d104675p-23,
       -0x1.5f0cf329e94e5p-26, -0x1.7376150f31bc7p-27, 0x1.a771248c7a45p-32, 0x1.cca43ad241631p-31,
       0x1.fb791c2abc5bap-33, 0x1.6f8da3f45a459p-35, 0x1.947c734819e11p-38, 0x1.6e103c197c88ap-41,
       0x1.28be053eddee1p-44, 0x1.a34f249a257e9p-48, 0x1.10c195baf8ae5p-51},
      {0x0p+0, 0x1.fd63b04722373p-22, -0x1.0ec7ec652ec5bp-23, 0x1.244b6b224066dp-23, -0x1.69e5760aa5a78p-26,
       -0x1.408dc507c6c2bp-28, 0x1.78c8790135e2fp-29, 0x1.166362feecc0fp-31, -0x1.73966d87fbe7ep-34,
       -0x1.0e11f76a74e45p-34, -0x1.e746b12909944p-37, -0x1.3254d19acb12ap-39, -0x1.2bf103ecd171p-42,
       -0x1.03bbe6d5af176p-45, -0x1.7df366b2f545bp-49, -0x1.002dd86bc529ep-52},
      {0x0p+0, -0x1.a1c9fb2b9e175p-24, 0x1.e42b51d2cd9dap-24, 0x1.193a1c6c15b9p-28, 0x1.103b8cf4be0c6p-29,
       0x1.113fa99d14f85p-29, -0x1.4a9764db212c8p-32, -0x1.7d4723c6f8f75p-33, 0x1.58ac488d3daabp-36,
       0x1.45d14b83bf859p-37, 0x1.03b1bed577fd7p-38, 0x1.bce0aac9cfdf4p-41, 0x1.1d99e7b5dccacp-43, 0x1.2a65d1c8d567p-46,
       0x1.09bff95cf479ap-49, 0x1.a40702f42c30fp-53},
      {0x0p+0, -0x1.0909b25d84ae8p-24, 0x1.2c3d27600c8e8p-25, 0x1.3a8e0c985c7d9p-32, 0x1.22dee9d610ee9p-28,
       -0x1.f00bde6310783p-31, -0x1.0a582fca3c864p-33, 0x1.33f6969388a3dp-34, 0x1.9aac59a684699p-36,
       -0x1.92ce95358b882p-39, -0x1.075dfbd24536cp-40, -0x1.5ec5ce258cb1ep-43, -0x1.08231561d3767p-46,
       -0x1.2a2b5356b0702p-50, 0x1.b9308dc278f64p-58, 0x1.9002ce62f7636p-57},
      {0x0p+0, -0x1.dc3e012cdebf4p-28, 0x1.3b295df9f466dp-29, 0x1.76a54cb36b841p-30, 0x1.a88bd02b140ebp-32,
       -0x1.06966811ad416p-32, 0x1.a944ec6beb9a3p-35, 0x1.9c0f6f06269f4p-37, -0x1.63702c4f558e1p-41,
       -0x1.5b6b1be15a8e6p-40, 0x1.6a2c7b9f3f491p-44, 0x1.8b5cf80a9e388p-44, 0x1.aad867421b625p-46,
       0x1.2cb94cb6e79aep-48, 0x1.4cf82b104f904p-51, 0x1.372a37247c571p-54},
  };
};
template <class D, class V>
HWY_INLINE V tail_by_pieces(D d, V size) {
  using T = hn::TFromD<D>;
  using Pieces = TailPieces<T, kPowersLookedUp<D>>;
  const V shifted = hn::Add(size, hn::Set(d, T{2.5}));
  const V interval = hn::MulAdd(shifted, shifted, hn::Set(d, Pieces::width * kCounter<T>));
  return piece(size, interval, Pieces::rows);
}

/// erfinv(x) / x by w = -log(1 - x^2), in up to eight intervals. The first bits of scale * w + `shift` tell which.
/// Rows: where a piece begins, then coefficients; the first two are all but exact.
template <class T>
struct InverseErrorPieces;
template <>
struct InverseErrorPieces<float> {
  static constexpr float scale = 1.25f, shift = 1.5f, tiny = 0x1p-80f;
  static constexpr uint32_t inverse_of_bits = 0x7EF311C3;
  alignas(64) static constexpr float rows[][8] = {
      {0x1.9b109ap-1f, 0x1.9a671ap+0f, 0x1.66cfc6p+1f, 0x1.19b47ap+2f, 0x1.b36014p+2f, 0x1.401518p+3f, 0x1.b8f9c2p+3f,
       0x1.9fbb9ap-3f},
      {0x1.1425b6p+0f, 0x1.4723f2p+0f, 0x1.936626p+0f, 0x1.f306aap+0f, 0x1.38a764p+1f, 0x1.7f82p+1f, 0x1.c65252p+1f,
       0x1.de187ep-1f},
      {0x1.f78e66p-3f, 0x1.007d4ap-2f, 0x1.f345dap-3f, 0x1.c7a5d4p-3f, 0x1.843e48p-3f, 0x1.4524fep-3f, 0x1.163228p-3f,
       0x1.e42afp-3f},
      {0x1.740338p-8f, 0x1.ffa3ecp-13f, -0x1.54ac14p-8f, -0x1.e2731ap-8f, -0x1.892eecp-8f, -0x1.f2dedp-9f,
       -0x1.3dc25ap-9f, 0x1.4af17ep-7f},
      {-0x1.3fcbd6p-9f, -0x1.08544ep-9f, -0x1.04aa16p-10f, -0x1.386a18p-15f, 0x1.1f3a48p-12f, 0x1.678548p-13f,
       0x1.62ddd8p-14f, -0x1.3d23d4p-9f},
      {0x1.f8766cp-15f, 0x1.8bfaf4p-13f, 0x1.b0eea6p-13f, 0x1.76544cp-14f, -0x1.fef5bcp-21f, -0x1.197778p-17f,
       -0x1.e4834ep-19f, -0x1.4ea4cap-14f},
      {0x1.66964p-15f, 0x1.4ed05ep-16f, -0x1.58ce1p-17f, -0x1.d0fb74p-17f, -0x1.502346p-19f, 0x1.3d75e8p-22f,
       0x1.622d56p-23f, 0x1.94301ap-15f},
      {-0x1.c08cf6p-19f, -0x1.67a412p-18f, -0x1.422e2p-19f, 0x1.b8b362p-21f, 0x1.da8ea8p-22f, 0x1.9dab0ep-27f,
       -0x1.eeff1cp-28f, 0x1.29c642p-21f},
      {-0x1.906eaap-21f, 0x1.a9a27cp-26f, 0x1.fa3b6cp-22f, 0x1.6c543ap-24f, -0x1.75b738p-25f, -0x1.0b2f44p-28f,
       0x1.f9ff96p-33f, -0x1.16839cp-20f},
  };
};
/// One polynomial up to w = `near`, for most numbers; look-ups of float64 take AVX2 longer.
template <>
struct InverseErrorPieces<double> {
  static constexpr double near = 6, scale = 1, shift = 0, tiny = 0x1p-900;
  static constexpr uint64_t inverse_of_bits = 0x7FDE6238502484BA;
  static constexpr double near_row[] = {
      0x1.800215bp+0,         0x1.4087c71d55251p+0,   0x1.005f070d094f1p-2,   0x1.cd2538b24c5d4p-11,
      -0x1.123e1ddfb6093p-9,  0x1.749b79ccf98abp-13,  0x1.86b183ef3e441p-16,  -0x1.688fcd876bf8bp-18,
      -0x1.175e487819c38p-24, 0x1.f9862dcca0c11p-24,  -0x1.f10b2d0291dc8p-28, -0x1.1593d6a5b516bp-29,
      0x1.4cda5e2507d3dp-32,  0x1.90dc02bbf9f9dp-36,  -0x1.24cf1244037c8p-37, 0x1.7665bb7f756edp-44,
      0x1.971a005b1bbe3p-43,  -0x1.0833e181516d5p-46, -0x1.c89cd89274136p-49, 0x1.5cdf4f1053672p-51,
      0x1.10e730f7ed391p-55,  -0x1.99ce4bb8dc711p-56, 0x1.fa663c124270fp-59,  -0x1.44da8b158b9a5p-62,
      0x1.ba66ba656c8ddp-67,  -0x1.f1f0054674ffdp-73};
  alignas(64) static constexpr double rows[][8] = {
      {0x1.103d7998d70a4p+5, 0x0p+0, 0x0p+0, 0x1.c0004bc2p+2, 0x1.40001d338p+3, 0x1.c00025a18p+3, 0x1.400001344p+4,
       0x1.c00010554p+4},
      {0x1.6c46e2b8d7b54p+2, 0x0p+0, 0x0p+0, 0x1.3d6948a87be8dp+1, 0x1.7f74ad14ae372p+1, 0x1.ca1fad9f00512p+1,
       0x1.144341c2527aep+2, 0x1.493dcae5a25adp+2},
      {0x1.6280095cf7b4ap-4, 0x0p+0, 0x0p+0, 0x1.7f75f4ae218fdp-3, 0x1.452f371bc705p-3, 0x1.140a6ded5e1a6p-3,
       0x1.ce9fbbcb06fd1p-4, 0x1.86f8e8b970b26p-4},
      {-0x1.4f13a38e69822p-11, 0x0p+0, 0x0p+0, -0x1.7e95d545097d9p-8, -0x1.f30b065ced089p-9, -0x1.36971c05e555p-9,
       -0x1.70e7f29a0041dp-10, -0x1.c031b81600757p-11},
      {0x1.39d80e143c71ep-17, 0x0p+0, 0x0p+0, 0x1.1d7dfe0469ecap-12, 0x1.67b36efd02f02p-13, 0x1.55e5e92898acfp-14,
       0x1.21e23ffdc6c93p-15, 0x1.fc39fcc766fd5p-17},
      {-0x1.6d88ee13c0e0dp-23, 0x0p+0, 0x0p+0, -0x1.a9c510972de45p-19, -0x1.198800748c843p-17, -0x1.cce6ef4a20af6p-19,
       -0x1.1a629e8a9415bp-20, -0x1.65f83f62f33a2p-22},
      {0x1.db2131959aa4ep-29, 0x0p+0, 0x0p+0, -0x1.0fdfcfc8f9a23p-19, 0x1.3d160114e749dp-22, 0x1.4e3d2744e923bp-23,
       0x1.323ab15a88304p-25, 0x1.1935c89d3e8c5p-27},
      {-0x1.49f7af55b80e7p-34, 0x0p+0, 0x0p+0, 0x1.93251d108acd7p-22, 0x1.5ddac653cb385p-27, -0x1.d6b816273398cp-28,
       -0x1.61915350b9362p-30, -0x1.d7e752d8e9f54p-33},
      {0x1.df209b2e07c06p-40, 0x0p+0, 0x0p+0, -0x1.59c5a8297756fp-25, -0x1.fdfc0b5b7f5e5p-29, 0x1.087c7a21bbe0bp-32,
       0x1.a7378192efc5dp-35, 0x1.9dc946bc2c1b2p-38},
      {-0x1.661fccf363fdep-45, 0x0p+0, 0x0p+0, 0x1.4f9299e751e2cp-29, 0x1.0ebca045436dap-31, -0x1.f2aeb74f75723p-41,
       -0x1.001ef262f0d2bp-39, -0x1.7667a2bd19e07p-43},
      {0x1.12ddfa244836ap-50, 0x0p+0, 0x0p+0, 0x1.9a4282ac08998p-35, -0x1.98da72b33d8bep-35, -0x1.1a49d0c58587ap-40,
       0x1.2e4cb062ce8b7p-44, 0x1.5abcb985d9fc7p-48},
      {-0x1.6c5a48cb5e74cp-54, 0x0p+0, 0x0p+0, -0x1.26aa1339d0031p-35, 0x1.c9691e24030dp-39, 0x1.2d3e50f6d56f7p-43,
       -0x1.43e22cfb1c82cp-49, -0x1.46ccf7ee0978bp-53},
      {0x1.a96a3a076d173p-60, 0x0p+0, 0x0p+0, 0x1.4b0cba4dd6897p-38, -0x1.350ed31b8e123p-43, -0x1.bb9e25a702948p-47,
       0x1.fae704f9216c9p-55, 0x1.37457039b633fp-58},
      {0x1.24c27cb7a535bp-56, 0x0p+0, 0x0p+0, -0x1.9100f4d2494a4p-42, -0x1.d8a23ac2d9397p-49, 0x1.09befa9bfbbb3p-50,
       0x1.a7900a9f5ab48p-62, -0x1.1edef530fed85p-63},
      {-0x1.4acf9f34abc38p-63, 0x0p+0, 0x0p+0, 0x1.48fb25388bf05p-48, 0x1.97d9a635c1878p-50, -0x1.0b7c542a5ea02p-54,
       -0x1.9c7c0f9926f8fp-63, 0x1.18d7b9042cfbp-68},
      {-0x1.5cced05493ef5p-59, 0x0p+0, 0x0p+0, -0x1.7a3478ec6c463p-48, -0x1.9a898557052f1p-53, 0x1.ad0b32bf7916ep-59,
       0x1.3d904e5fae9ccp-66, -0x1.5655fbc48765ap-72},
      {0x1.5987d5f83e54ep-67, 0x0p+0, 0x0p+0, 0x1.5260087fad088p-53, 0x1.17017aa4ba5b1p-56, -0x1.52bebfd6f4b91p-64,
       -0x1.cc3248c32ead7p-70, 0x1.f676dcac945b5p-79},
      {0x1.518f1b99470a3p-63, 0x0p+0, 0x0p+0, 0x1.230eef6e52394p-49, -0x1.a5f6446b72edcp-61, -0x1.2eaa0d37d46aap-70,
       0x1.b9d7342b125f6p-74, 0x1.9de7a3f069d05p-79},
  };
};
/// erfinv(x) / x for w = w_high + w_low as a pair. `row(i)`: a number of the row of the polynomial.
template <std::size_t kRows, class Row, class V>
HWY_INLINE Pair<V> inverse_error_factor(V w_high, V w_low, const Row& row) {
  const V t = hn::Sub(w_high, row(0)), square = hn::Mul(t, t), slope = row(2), line = hn::Mul(t, slope);
  // Even and odd terms apart, which the processor adds at once.
  V next = row(kRows - 1), last = row(kRows - 2);
  for (std::size_t number = kRows - 3; number > 2; --number) {
    const V sum = hn::MulAdd(next, square, row(number));
    next = last;
    last = sum;
  }
  const Pair<V> sum = sum_of_ordered(row(1), line);
  const V t_low = hn::Add(hn::Sub(w_high, hn::Add(t, row(0))), w_low);  // of w near 0
  const V bend = hn::MulAdd(t_low, slope, hn::MulSub(t, slope, line));
  return {sum.high, hn::Add(sum.low, hn::MulAdd(square, hn::MulAdd(next, t, last), bend))};
}
template <class D, class V>
HWY_INLINE Pair<V> inverse_error_factor_by_pieces(D d, V w_high, V w_low) {
  using T = hn::TFromD<D>;
  using Pieces = InverseErrorPieces<T>;
  const hn::RebindToUnsigned<D> du;
  const V shifted = hn::MulAdd(w_high, hn::Set(d, Pieces::scale), hn::Set(d, Pieces::shift));
  const V interval = hn::BitCast(d, hn::ShiftRight<ExpLog<T>::mantissa_bits - 1>(hn::BitCast(du, shifted)));
  return inverse_error_factor<std::size(Pieces::rows)>(
      w_high, w_low, [&](std::size_t i) HWY_ATTR { return looked_up_of_8(interval, Pieces::rows[i]); });
}
/// erfinv(x) with an error of little more than the last rounding: 1 - x^2, its logarithm, and the first two terms of
/// the polynomial are pairs.
template <class D, class V>
HWY_INLINE V erfinv_by_pieces(D d, V x) {
  using T = hn::TFromD<D>;
  using Pieces = InverseErrorPieces<T>;
  const hn::RebindToUnsigned<D> du;
  const V one = hn::Set(d, T{1}), size = hn::Abs(x);
  const Pair<V> less = sum_of_ordered(one, hn::Neg(size)), more = sum_of_ordered(one, size);
  const V share = hn::Mul(less.high, more.high), lost = hn::MulSub(less.high, more.high, share);
  const V share_low = hn::MulAdd(less.high, more.low, hn::MulAdd(less.low, more.high, lost));
  // The inverse to 1/8 is enough for what the product lost.
  const V inverse = hn::BitCast(d, hn::Sub(hn::Set(du, Pieces::inverse_of_bits), hn::BitCast(du, share)));
  const Pair<V> log = log_pair<true>(d, share), sum = sum_of_ordered(log.high, log.low);
  const V w = hn::Neg(sum.high), w_low = hn::Neg(hn::MulAdd(share_low, inverse, sum.low));
  Pair<V> factor;
  if constexpr (sizeof(T) == sizeof(double)) {
    factor = inverse_error_factor<std::size(Pieces::near_row)>(
        w, w_low, [&](std::size_t i) HWY_ATTR { return hn::Set(d, Pieces::near_row[i]); });
    const auto near = hn::Lt(w, hn::Set(d, Pieces::near));
    if (HWY_UNLIKELY(!hn::AllTrue(d, near))) {
      const Pair<V> far = inverse_error_factor_by_pieces(d, w, w_low);
      factor = {hn::IfThenElse(near, factor.high, far.high), hn::IfThenElse(near, factor.low, far.low)};
    }
  } else {
    factor = inverse_error_factor_by_pieces(d, w, w_low);
  }
  const auto product = [&](V number) HWY_ATTR { return hn::MulAdd(number, factor.high, hn::Mul(number, factor.low)); };
  const V result = hn::CopySign(product(size), x), tiny = hn::Set(d, Pieces::tiny);
  const auto plain = hn::And(hn::Lt(tiny, size), hn::Lt(size, one));
  if (HWY_LIKELY(hn::AllTrue(d, plain))) return result;
  // Products of tiny numbers with the low part would be subnormal.
  const V of_tiny = hn::Mul(product(hn::Mul(size, hn::Set(d, 1 / Pieces::tiny))), tiny);
  const V infinite = hn::Set(d, std::numeric_limits<T>::infinity()),
          nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const V end = hn::IfThenElse(hn::Eq(size, one), infinite, nan);
  return hn::IfThenElse(plain, result, hn::CopySign(hn::IfThenElse(hn::Lt(size, one), of_tiny, end), x));
}
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif
