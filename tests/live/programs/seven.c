/* SPDX-License-Identifier: MIT */
/* Uses some CPU time and exits with 7. It has no C library, and makes one system call, so that no
 * filter of system calls is in its way but one of that. */
#define ROUNDS 3000000

#if defined(__x86_64__)
#define EXIT __asm__ volatile("syscall" : : "a"(231L), "D"(7L) : "rcx", "r11", "memory")
#elif defined(__aarch64__)
#define EXIT                                                                                       \
	do {                                                                                       \
		register long number __asm__("x8") = 94, code __asm__("x0") = 7;                   \
		__asm__ volatile("svc 0" : : "r"(number), "r"(code) : "memory");                   \
	} while (0)
#endif

void _start(void);

void _start(void)
{
	for (volatile int i = 0; i < ROUNDS; i++)
		;
	for (;;)
		EXIT;
}
