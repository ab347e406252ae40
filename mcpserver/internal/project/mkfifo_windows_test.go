package project

import "errors"

func mkfifo(string) error { return errors.New("there are no pipes with a name in the file system") }
