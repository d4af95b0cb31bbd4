/* SPDX-License-Identifier: MIT */
/* Members of a family begin in a constructor of tests/component/family.c, and never come here. */
int main(void)
{
	return 1;
}
