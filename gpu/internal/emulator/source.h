/* Made by go generate ./gpu. DO NOT EDIT. */
#define BELSIM_SOURCE "dfa15a96f5c31e125fc0f26884c2c1b4ac72cf12b117aa74198234995f5ff0c1"
