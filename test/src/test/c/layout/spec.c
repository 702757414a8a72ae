// A spec with every kind of argument, as a compiler lays it out: the judge of what the loader writes into the map. To be
// compiled for both byte orders (-target bpfel, bpfeb), and with -DUSDT_SPEC_208 for the older layout.
#include <bpf4j/usdt.h>

struct __bpf_usdt_spec spec = {
	.args =
		{
			[0] = {.arg_type = USDT_CONSTANT, .val_off = -9, .arg_signed = true, .arg_bitshift = 32},
			[1] = {.arg_type = USDT_REGISTER, .reg_off = 80},
			[2] = {.arg_type = USDT_DEREFERENCE,
			       .val_off = -20,
			       .reg_off = 32,
			       .arg_signed = true,
			       .arg_bitshift = 56},
#ifndef USDT_SPEC_208
			[3] = {.arg_type = USDT_SIB,
			       .val_off = 0x1122334455667788,
			       .reg_off = 0x50,
			       .idx_reg_off = 0x123,
			       .scale_bitshift = 2,
			       .arg_signed = true,
			       .arg_bitshift = 32},
			[4] = {.arg_type = USDT_SIB, .val_off = 1, .reg_off = 264, .idx_reg_off = 0xfff, .scale_bitshift = 3},
			[5] = {.arg_type = USDT_SIB, .idx_reg_off = 8, .scale_bitshift = 0, .arg_bitshift = 48},
			[7] = {.arg_type = USDT_SIB, .idx_bitshift = 32, .idx_signed = true},
			[8] = {.arg_type = USDT_SIB, .idx_bitshift = 32},
#endif
			[6] = {.arg_type = 0x7f},
			[11] = {.arg_type = USDT_DEREFERENCE,
				.val_off = 0x8000000000000000,
				.reg_off = 0x1234,
				.arg_bitshift = 48},
		},
	.usdt_cookie = 0xfedcba9876543210,
	.arg_cnt = 12,
};
