# Its functions are for other kernels alone.
