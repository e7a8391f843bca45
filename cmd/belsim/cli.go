package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"belsim/cmd/internal/buildinfo"
	"belsim/errmodel/scenario"
	"belsim/gpu"
	"belsim/montecarlo/search"
	"belsim/plots"
	"belsim/theory/base/memory"
	"belsim/theory/base/position"
	"belsim/theory/base/safefile"
	"belsim/theory/base/table"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// Exit codes, as the README documents them.
const (
	exitDone        = 0
	exitFailed      = 1 // a verification failed
	exitUsage       = 2 // bad usage or bad input
	exitEnvironment = 3 // the environment cannot do it
	exitSignal      = 128
)

// release is the version that the build gives, with go build -ldflags "-X main.release=1.2.0". It
// is a variable because the linker sets no constants; nothing else does.
var release string

// errFailed says that a verification failed; what failed has been printed.
var errFailed = errors.New("verification failed")

// environmentError marks errors that the environment causes, and not the user.
type environmentError struct{ err error }

func (e environmentError) Error() string { return e.err.Error() }

func (e environmentError) Unwrap() error { return e.err }

// cli is the command line.
type cli struct {
	Codes      codesCmd                  `cmd:"" help:"List the codes, or print or draw one as a matrix."`
	Compare    compareCmd                `cmd:"" help:"Rank codes by expected error: bound, exact, sampled."`
	Heatmap    heatmapCmd                `cmd:"" help:"Compare two codes over the plane of r and σ."`
	Verify     verifyCmd                 `cmd:"" help:"Check bound, exact value and samples of a code."`
	Fit        fitCmd                    `cmd:"" help:"Judge a trained network."`
	Decode     decodeCmd                 `cmd:"" help:"Decode a network's outputs into labels."`
	Optimize   optimizeCmd               `cmd:"" help:"Search for the code with the smallest expected error."`
	Explore    exploreCmd                `cmd:"" help:"Open the explorer, a page that moves parameters with the mouse."`
	Figures    figuresCmd                `cmd:"" help:"Draw all figures of the paper, each with its numbers."`
	Bench      benchCmd                  `cmd:"" help:"Measure how fast every backend samples."`
	Sweep      sweepCmd                  `cmd:"" help:"Compute a plan of many cells, in parts."`
	Merge      mergeCmd                  `cmd:"" help:"Put the results of a sweep together."`
	Completion kongcompletion.Completion `cmd:"" help:"Print how to set up tab completion for a shell."`

	Quiet   bool             `short:"q" help:"No progress and no notes on standard error, of any command."`
	Version kong.VersionFlag `help:"Print the version."`
}

// help has a text for each command, with examples, and one for belsim itself.
//
//go:embed help
var help embed.FS

// helpOf is the text of a command.
func helpOf(command string) string {
	text, _ := help.ReadFile("help/" + command + ".txt") // completion has its own
	return string(text)
}

// environment holds what a command needs from outside.
type environment struct {
	stdout   *standardOutput
	stderr   io.Writer
	quiet    bool // neither progress nor notes
	from     int  // number that positions in sentences count from
	args     []string
	files    ledger               // those that the command reads and writes
	decoders decode.Registry      // the decoders that --decoder takes
	disturb  func([]expect.Level) // changes what theory says, in tests of verify
	last     *progress            // that began last; nil where none did
	watch    func(*progress)      // sees every progress that begins, in tests of signals
	saves    atomic.Bool          // an interruption has to wait: results are being made safe
	exit     func(code int)       // ends the process
	// files without their final names, which are removed before the process ends
	unfinished *safefile.Files
	grace      time.Duration // how long an interrupted command may take to end by itself
	moment     time.Duration // for how long bench measures each workload, on each backend
}

// newEnvironment returns the environment of a command line.
func newEnvironment(args []string, stdout, stderr io.Writer) *environment {
	from := countFrom(os.Getenv(callerVariable))
	return &environment{
		stdout: newStandardOutput(stdout, from), stderr: stderr, args: args, from: from, unfinished: &safefile.Files{},
		decoders: decode.Builtin(), disturb: func([]expect.Level) {}, watch: func(*progress) {},
		exit: os.Exit, grace: 700 * time.Millisecond, moment: time.Second,
	}
}

// belsim runs one command line and returns the exit code.
func belsim(args []string, stdout, stderr io.Writer) int {
	return newEnvironment(args, stdout, stderr).belsim()
}

// belsim runs the command line of the environment.
func (env *environment) belsim() (code int) {
	args := env.args
	defer func() {
		// Whatever else it did, a command whose output is lost has failed.
		if err := env.stdout.failed(); err != nil && code <= exitFailed {
			env.complain("%s", oneLine(err))
			code = exitEnvironment
		}
	}()
	defer env.unfinished.Discard() // also where a command panics
	ctx, stop := env.notify(context.Background())
	defer stop()

	if len(args) == 0 {
		args = []string{"--help"}
	}
	printed := false // --help or --version: kong then goes on, as if the process had not ended
	k, err := env.parse(ctx, args, func(int) { printed = true })
	if printed {
		return exitDone
	}
	if err != nil && env.stdout.err == nil {
		command := "belsim"
		if of, ok := errors.AsType[*kong.ParseError](err); ok && of.Context.Selected() != nil {
			command = of.Context.Selected().FullPath()
		}
		env.complain("%s; see %s --help", unparsed(args[0], oneLine(err)), command)
		return exitUsage
	}
	if err == nil {
		err = env.checkGiven(k)
	}
	if err == nil {
		err = k.Run()
	}
	if env.stdout.err != nil && errors.Is(err, env.stdout.err) {
		return exitDone // the deferred function says more
	}
	if i, ok := context.Cause(ctx).(interruption); ok && err != nil {
		if errors.Is(err, context.Canceled) {
			text := env.files.leftBehind()
			if p := env.last; p != nil && p.total+p.finished.Load() > 0 {
				text = fmt.Sprintf("%s %s were finished, %s", p, p.what, text)
			}
			err = errors.New(text)
		}
		env.complain("interrupted: %s", oneLine(err))
		return signalStatus(i.Signal)
	}
	if code = exitCode(err); code > exitFailed {
		env.complain("%s", oneLine(err))
	}
	return code
}

// kongWords are what kong says in the words of Go: "" is a flag that is not given, and EOL the end.
var kongWords = strings.NewReplacer(`one of "",`, "one of ", `,"" but got`, " but got", " (string)", "",
	`"EOL" (<nil>)`, "nothing", "a valid 64 bit int ", "a whole number ",
	"a valid 64 bit uint ", "a whole number ")

// unparsed says why a command line is none of a command, from what kong says, and what would be one.
func unparsed(command, text string) string {
	if what, ok := strings.CutPrefix(text, "unexpected argument "); ok {
		switch command {
		case "verify", "fit", "decode":
			text += ": want --code " + what
		}
	}
	return kongWords.Replace(text)
}

// note writes a line on standard error that says what is worth knowing.
func (env *environment) note(format string, a ...any) {
	if !env.quiet {
		env.say("belsim: note:", format, a...)
	}
}

// complain writes a line on standard error that says what is wrong.
func (env *environment) complain(format string, a ...any) {
	env.say("belsim:", format, a...)
}

// say writes a line on standard error, in which every character is seen.
func (env *environment) say(name, format string, a ...any) {
	fmt.Fprintln(env.stderr, name, table.Visible(position.Count(fmt.Sprintf(format, a...), env.from)))
}

// parse reads a command line.
func (env *environment) parse(ctx context.Context, args []string, exit func(int)) (*kong.Context, error) {
	for _, a := range args {
		// JSON, and the reader of the command line, would put U+FFFD in the place of such bytes.
		if !utf8.ValidString(a) {
			return nil, fmt.Errorf("%q is not text in UTF-8: belsim takes no such names of files", a)
		}
		if strings.ContainsAny(a, "\n\r\t") {
			return nil, fmt.Errorf("%q has a tab or the end of a line: belsim takes no such names of files", a)
		}
	}
	var c cli
	places, widths := plots.Places()
	parser, err := kong.New(&c,
		kong.Name("belsim"),
		kong.Description(helpOf("belsim")),
		kong.Writers(env.stdout, env.stderr),
		kong.Exit(exit),
		kong.Vars{
			"version":    "belsim " + version(),
			"r":          fmt.Sprint(scenario.DefaultMixture().R),
			"sigma":      fmt.Sprint(scenario.DefaultMixture().Sigma),
			"steps":      fmt.Sprint(search.DefaultSteps),
			"styles":     strings.Join(places, ","),
			"places":     strings.Join(widths, ", "),
			"decoders":   strings.Join(append([]string{decode.Auto}, env.decoders.Names()...), ","),
			"auto":       "auto: bel-u for unary, bel-j for Johnson codes, else (and on a circle) gen",
			"uninformed": strings.Join(append([]string{decode.Auto}, env.decoders.Uninformed().Names()...), ", "),
			"cost":       "absolute, the |error|; squared, zero-one, beyond:θ, or a FILE of L × L costs",
			"model":      "r, σ, prior and temperature of a .json of fit.",
			"outputs":    "Outputs of the classifiers, samples × bits; KIND is logits, probabilities or bits.",
			"bitlevels":  "Number of levels of a named code (default: as many as the outputs' bits need).",
			"range":      "Labels of the first and the last level, or a FILE with the label of each level.",
			"histogram":  "Histogram of the labels, CSV with columns label,count (default: all alike): whole numbers, the smallest is level 1, and missing ones between are levels that do not occur.",
		},
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}),
		kong.Help(printHelp),
		kong.ExplicitGroups(flagGroups),
		kong.WithHyphenPrefixedParameters(true), // --flag -1
		kong.KindMapper(reflect.String, kong.MapperFunc(textOfFlag)),
		kong.Bind(env),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return nil, err
	}
	for _, command := range parser.Model.Children {
		command.Detail = cmp.Or(helpOf(command.Name), command.Detail)
	}
	kongcompletion.Register(parser)
	k, err := parser.Parse(args)
	if err != nil {
		return nil, err
	}
	env.files.inputs = inputsOf(k)
	env.files.printed, _ = env.stdout.Writer.(*os.File)
	for _, f := range k.Flags() {
		switch f.Name {
		case "format":
			env.stdout.document = f.Target.String() == "json"
		case "quiet":
			env.quiet = f.Target.Bool()
		}
	}
	return k, nil
}

// flagGroups are the flags of a command in its help, below those that most people need first.
var flagGroups = []kong.Group{
	{Key: "codes", Title: "Codes:"}, {Key: "model", Title: "Error model:"},
	{Key: "sampling", Title: "Sampling:"}, {Key: "output", Title: "Output:"},
}

// printHelp prints the help of a command with its groups in order. The flags of belsim itself are
// in its own help.
func printHelp(o kong.HelpOptions, k *kong.Context) error {
	if command := k.Selected(); command != nil {
		for _, f := range k.Model.Flags {
			f.Hidden = true
		}
		place := func(f *kong.Flag) int {
			return slices.IndexFunc(flagGroups, func(g kong.Group) bool {
				return f.Group != nil && f.Group.Key == g.Key
			})
		}
		slices.SortStableFunc(command.Flags, func(a, b *kong.Flag) int { return place(a) - place(b) })
	}
	return kong.DefaultHelpPrinter(o, k)
}

// exitCode returns the exit code for a command's error.
func exitCode(err error) int {
	_, outside := errors.AsType[environmentError](err)
	_, scarce := errors.AsType[*memory.Error](err)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errFailed):
		return exitFailed
	case outside || scarce || errors.Is(err, gpu.ErrDevice) || exhausted(err):
		return exitEnvironment
	}
	return exitUsage
}

// exhausted reports whether the system lacks something that another time or place may have.
func exhausted(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO,
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM},
		func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// oneLine is the text of an error on one line.
func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

// interruption is the signal that ends a command, the cause of its context.
type interruption struct{ syscall.Signal }

func (i interruption) Error() string { return i.String() }

// notify returns a context that ends with one of the interruptions. A second signal ends the
// process at once. Programs such as timeout send a signal to a process and to its group: two
// signals within a tenth of a second are one.
//
// The process also ends when an interrupted command does not end by itself: it waits for a pipe, or
// is in a computation that cannot be interrupted. Files that are not finished are removed
// then. What a command makes safe it may finish.
func (env *environment) notify(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, interruptions...)
	go func() {
		var first interruption
		select {
		case s := <-signals:
			first.Signal, _ = s.(syscall.Signal)
			cancel(first)
		case <-done:
			return
		}
		began, late := time.Now(), time.NewTimer(env.grace)
		for {
			select {
			case s := <-signals:
				if sig, ok := s.(syscall.Signal); ok && time.Since(began) > 100*time.Millisecond {
					env.unfinished.Discard()
					env.exit(signalStatus(sig))
				}
			case <-late.C:
				if !env.saves.Load() {
					env.unfinished.Discard()
					env.complain("interrupted in a step that cannot be stopped; unfinished files are removed")
					env.exit(signalStatus(first.Signal))
					return
				}
				late.Reset(50 * time.Millisecond)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
		close(done)
	}
}

// version is the version in words: the name that the build has, or what version control says.
func version() string { return buildinfo.Version(release) }

// outside marks an error of writing as the environment's, unless the path the
// user gave is at fault.
func outside(err error) error {
	for _, of := range []error{nil, fs.ErrNotExist, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP,
		safefile.ErrSpecial} {
		if errors.Is(err, of) {
			return err
		}
	}
	return environmentError{err}
}
