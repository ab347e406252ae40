package project

const nonblock = 0 // no file makes an open wait
