package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"belsim/cmd/internal/manual"
)

type manCmd struct {
	Command  string `arg:"" optional:"" help:"Command whose page is printed; without it, the page of belsim itself."`
	Output   string `short:"o" placeholder:"FOLDER" help:"Write all pages to FOLDER instead, made if need be."`
	IfExists string `enum:"overwrite,fail" default:"overwrite" help:"What to do when a file exists: ${enum}."`
}

func (manCmd) Help() string {
	return `The pages of the manual for man(1), made from what --help says.

Examples:

  belsim man compare

  belsim man -o man1

'belsim man compare | man -l -' shows a page, and 'belsim man -o ~/.local/share/man/man1' installs all for you: 'man belsim-compare' finds them where ~/.local/bin is in PATH.`
}

// exitStatus and environmentVariables are in every page, as the README has them.
var (
	exitStatus = []manual.Entry{
		{Term: "0", Text: "Done."},
		{Term: "1", Text: "A verification failed."},
		{Term: "2", Text: "Bad usage or bad input; one line on standard error says what is wrong and where."},
		{Term: "3", Text: "The environment cannot do it: a full disk, too little memory, or no GPU with --backend cuda."},
		{Term: "130, 134, 141, 143", Text: "Ended by SIGINT, by a crash (SIGABRT), because the reader of standard output ended (SIGPIPE), or by SIGTERM or SIGUSR1."},
	}
	environmentVariables = []manual.Entry{
		{Term: "NO_COLOR", Text: "No colours, unless --color asks for them."},
		{Term: "FORCE_COLOR, CLICOLOR_FORCE", Text: "Colours also where standard output is no terminal."},
		{Term: "TERM", Text: "dumb is a terminal without colours."},
		{Term: "BELSIM_PROGRESS", Text: "How often progress is told where standard error is no terminal, such as 2s (default: 30s)."},
		{Term: "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX", Text: "The shard of belsim sweep, where a job has several."},
	}
)

// Run implements the command.
func (cmd *manCmd) Run(k *kong.Context, env *environment) error {
	m := &manual.Manual{App: k.Model, Version: version(), ExitStatus: exitStatus, Environment: environmentVariables}
	if cmd.Output == "" {
		name := m.App.Name
		if cmd.Command != "" && cmd.Command != name { // names of pages, which messages and pages list, do as well
			name += "-" + strings.TrimPrefix(cmd.Command, name+"-")
		}
		page, err := m.Page(name)
		if err != nil {
			return fmt.Errorf("%s: %w", cmd.Command, err)
		}
		_, err = io.WriteString(env.stdout, page)
		return outside(err)
	}
	if cmd.Command != "" {
		return fmt.Errorf("%s: -o writes all pages; want one of them", cmd.Command)
	}
	if err := os.MkdirAll(cmd.Output, 0o777); err != nil {
		return outside(fmt.Errorf("making the folder: %w", err))
	}
	out := outputFlags{IfExists: cmd.IfExists}
	for _, name := range m.Names() {
		out.Output = append(out.Output, filepath.Join(cmd.Output, name+".1"))
	}
	if err := out.checkOutput(env, "1"); err != nil {
		return err
	}
	if err := out.write(env, func(w io.Writer, path string) error {
		page, err := m.Page(filepath.Base(stem(path)))
		if err == nil {
			_, err = io.WriteString(w, page)
		}
		return err
	}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.stdout, "%d pages in %s\n", len(out.Output), cmd.Output)
	return outside(err)
}
