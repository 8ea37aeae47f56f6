// What Rust's library asks Windows for random bytes, for a Wine that lacks it.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID to, ULONG len);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T len) {
  for (; len > 0xffff; to += 0xffff, len -= 0xffff) {
    if (!SystemFunction036(to, 0xffff)) return FALSE;
  }
  return SystemFunction036(to, (ULONG)len);
}
