//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// likeOld gives a new file, which is private, the permissions of an old one, and its owner and
// group where that is allowed. The permissions of a group are not for another one. Some file
// systems know no permissions.
func likeOld(file *os.File, old os.FileInfo) {
	mode := old.Mode().Perm()
	owner, ok := old.Sys().(*syscall.Stat_t)
	if ok && file.Chown(int(owner.Uid), int(owner.Gid)) != nil && file.Chown(-1, int(owner.Gid)) != nil {
		mode &= mode<<3 | 0o707
	}
	_ = file.Chmod(mode)
}

// syncFolder makes a renaming in a folder last. It does nothing where the file system
// cannot, and in a folder that may be written to but not read.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
