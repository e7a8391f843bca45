/* Made by go generate ./gpu. DO NOT EDIT. */
#define BELSIM_SOURCE "46be7e890cd685e8d6f37b72550fce45357539d8fbfaa030e408fe003f7064a2"
