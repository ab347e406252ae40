package command

import "strings"

// stateful are the builtins that no prefix rule allows: after them other words mean other things.
var stateful = set("eval source . exec trap alias unalias enable builtin command hash set shopt bind complete compgen " +
	"compopt read mapfile readarray unset export declare typeset local readonly nameref let cd pushd popd umask ulimit " +
	"jobs fg bg wait suspend getopts shift return exit logout history fc disown caller dirs")

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for s := range strings.FieldsSeq(list) {
		m[s] = true
	}
	return m
}

// tables are the commands whose options are known. They were chosen by reading the manuals of GNU and of BSD: an option
// is listed if it neither writes, nor runs anything, nor reads options from elsewhere, in any of them.
var tables = func() map[string]table {
	m := map[string]table{
		"uniq": {readOnly: true, flags: "cdDiuz", args: "fsw", operands: 1, // a second operand is written
			long: "count repeated unique ignore-case zero-terminated skip-fields= skip-chars= check-chars="},
		"date": {readOnly: true, flags: "uR", args: "drI", check: dateOperands,
			long: "utc date= reference= iso-8601 iso-8601= rfc-3339= rfc-email"},
		"sort": {readOnly: true, flags: "bcCdfghiMmnRrsuVz", args: "kt", long: "reverse unique numeric-sort " +
			"human-numeric-sort version-sort general-numeric-sort month-sort ignore-case ignore-leading-blanks " +
			"dictionary-order stable check zero-terminated key= field-separator="},
		"diff": {readOnly: true, flags: "abBcdeEiNnpqrstTuwyZ", args: "UCxIW", long: "brief unified unified= color color= " +
			"ignore-case recursive side-by-side width= ignore-all-space ignore-space-change ignore-blank-lines text " +
			"new-file exclude= label= suppress-common-lines report-identical-files strip-trailing-cr"},
		"rg":   {readOnly: true, flags: "0.acFhHiIlLnNopPqsSuUvwx", args: "ABCdeEfgjmMrtT", long: rgOptions},
		"find": {readOnly: true, words: findWords},
		"sed": {readOnly: true, flags: "nErsz", args: "e", check: sedScripts,
			long: "quiet silent expression= regexp-extended null-data separate"},
		"printf":  {readOnly: true, harmless: true, check: printfFormat},
		"command": {readOnly: true, flags: "vV", check: begins("-v -V")},
		"test":    {readOnly: true, words: testWords},
		"[":       {readOnly: true, words: testWords},
		"file": {readOnly: true, flags: "bihkLNnprsv0", long: "brief mime mime-type mime-encoding dereference " +
			"no-dereference"},
		"xxd": {readOnly: true, flags: "abeipuE", args: "clgso", operands: 1}, // a second operand is written
		"tree": {readOnly: true, flags: "adfilpsughDFNQqrtUcCnS", args: "LPI", long: "noreport gitignore dirsfirst prune " +
			"filelimit= du"},
		"man": {flags: "kfaw"},

		// What options mean is only of interest for telling files from other words.
		"cut": {readOnly: true, harmless: true, flags: "snz", args: "bcdf"}, "paste": {readOnly: true, harmless: true, args: "d"},
		"head": {readOnly: true, harmless: true, args: "nc"}, "tail": {readOnly: true, harmless: true, args: "nc"},
		"join": {readOnly: true, harmless: true, args: "t"}, "nl": {readOnly: true, harmless: true, args: "bds"},
		"du": {readOnly: true, harmless: true, args: "d"},
		"jq": {readOnly: true, harmless: true, flags: "cnreaCMSsj", long: "raw-output compact-output null-input raw-input slurp " +
			"exit-status sort-keys join-output tab color-output monochrome-output ascii-output"},

		"go version": {readOnly: true, flags: "mv"},
		"go env":     {readOnly: true, words: "-json -changed"},
		"go vet":     {words: "-v -tags -json -c"},
		"go list":    {words: "-m -json -f -deps -test -e -u -versions -find -tags"},
		"go build":   {words: "-v -race -tags -p"},
		"go test": {words: "-v -run -count -race -short -timeout -cover -bench -benchmem -benchtime -failfast -json -p " +
			"-parallel -tags -cpu -shuffle -list -skip -fuzztime -covermode"},
	}
	for name := range set(harmless) {
		if !m[name].harmless {
			m[name] = table{readOnly: true, harmless: true}
		}
	}
	for name := range set("grep egrep fgrep") {
		m[name] = table{readOnly: true, harmless: true, flags: "EFGPHLIRTUVabchilnoqrsuvwxyzZ", args: "ABCDdem", long: grepOptions}
	}
	for name, t := range gitTables {
		t.readOnly = true
		m["git "+name] = t
	}
	return m
}()

// harmless are commands none of whose options writes or runs anything.
const harmless = "ls cat echo pwd true false : head tail wc stat basename dirname realpath readlink du df cmp comm cut tr " +
	"nl tac rev paste join fold fmt expand unexpand seq expr grep egrep fgrep nproc uname whoami id groups printenv which " +
	"type sleep cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum od hexdump jq ps uptime free"

const (
	findWords = "-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type -xtype " +
		"-maxdepth -mindepth -depth -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -newermt -size -empty " +
		"-print -print0 -printf -ls -prune -not -and -or -a -o -user -group -nouser -nogroup -uid -gid -perm -links " +
		"-inum -samefile -fstype -readable -writable -executable -true -false -L -H -P -xdev -mount -daystart -noleaf " +
		"-follow -quit"
	testWords = "-e -f -d -s -r -w -x -L -h -p -S -b -c -g -k -u -G -N -O -t -z -n -eq -ne -lt -le -gt -ge -nt -ot -ef " +
		"-a -o"
	rgOptions = "files hidden no-ignore no-ignore-vcs type= type-not= glob= iglob= json stats count count-matches " +
		"max-count= max-depth= sort= sortr= multiline multiline-dotall pcre2 line-number no-line-number no-heading heading " +
		"color= column context= after-context= before-context= fixed-strings ignore-case smart-case case-sensitive " +
		"word-regexp line-regexp files-with-matches files-without-match type-list max-columns= follow vimgrep trim regexp= " +
		"only-matching invert-match no-config passthru pretty with-filename no-filename replace= null"

	grepOptions = "ignore-case no-ignore-case invert-match word-regexp line-regexp count color color= colour colour= " +
		"files-with-matches files-without-match quiet silent only-matching no-messages line-number with-filename " +
		"no-filename null extended-regexp fixed-strings basic-regexp perl-regexp recursive dereference-recursive text " +
		"byte-offset initial-tab line-buffered null-data binary after-context= before-context= context= max-count= regexp= " +
		"file= include= exclude= exclude-dir= exclude-from= label= binary-files= devices= directories= group-separator="

	diffOptions = "stat stat= numstat shortstat summary name-only name-status cached staged check unified= word-diff " +
		"word-diff= color color= no-color no-ext-diff no-textconv find-renames find-copies ignore-all-space " +
		"ignore-space-change ignore-space-at-eol ignore-blank-lines diff-filter= merge-base relative relative= " +
		"function-context no-prefix minimal patience histogram exit-code quiet raw text patch-with-stat no-renames " +
		"dirstat compact-summary no-index submodule submodule= "
	logOptions = diffOptions + "oneline graph all decorate decorate= no-decorate patch no-patch since= until= after= " +
		"before= author= committer= grep= format= pretty pretty= date= abbrev-commit abbrev= follow reverse no-merges " +
		"merges first-parent max-count= skip= branches branches= tags tags= remotes remotes= simplify-by-decoration " +
		"topo-order date-order full-history all-match invert-grep no-notes left-right cherry-pick cherry-mark boundary " +
		"ancestry-path full-diff no-abbrev-commit "
	refOptions = "sort= format= contains= no-contains= merged= no-merged= points-at= color color= no-color "
)

// gitTables are subcommands that only read, as long as nothing but this is asked of them. What the user's own
// configuration makes git run, such as a pager or fsmonitor, is the user's.
var gitTables = map[string]table{
	"status": {flags: "sbzv", args: "u", long: "short branch porcelain porcelain= long ignored ignored= untracked-files " +
		"untracked-files= show-stash ahead-behind no-ahead-behind no-renames"},
	"log":  {flags: "pzwimcrts", args: "nSGL", number: true, long: logOptions},
	"show": {flags: "pzwimcrts", args: "nSGL", number: true, long: logOptions},
	"diff": {flags: "pzwbRaMCs", args: "USG", long: diffOptions},
	"blame": {flags: "wsefnbtCMlp", args: "L", long: "line-porcelain porcelain show-email show-name show-number date= " +
		"abbrev= since= root incremental"},
	"rev-parse": {flags: "q", long: "abbrev-ref abbrev-ref= show-toplevel git-dir absolute-git-dir git-common-dir " +
		"is-inside-work-tree is-bare-repository show-prefix show-cdup short short= verify quiet symbolic-full-name all"},
	"rev-list": {flags: "n", number: true, long: logOptions + "count objects"},
	"ls-files": {flags: "cdmosztvfk", long: "cached deleted modified others ignored exclude-standard stage full-name " +
		"error-unmatch deduplicate eol directory unmerged"},
	"ls-tree":  {flags: "drtlz", long: "name-only name-status full-name full-tree long object-only"},
	"cat-file": {flags: "tsep"},
	"grep": {flags: "aivwEFGPnlLcohHqzWpIr", args: "ABCem", number: true, long: "ignore-case word-regexp line-number " +
		"files-with-matches files-without-match name-only count untracked cached no-index heading break show-function " +
		"function-context max-depth= context= after-context= before-context= extended-regexp fixed-strings perl-regexp and " +
		"or not all-match color color= only-matching column exclude-standard max-count="},
	"branch":        {flags: "arv", operands: none, long: refOptions + "show-current all remotes verbose list"},
	"tag":           {flags: "l", operands: none, long: refOptions + "list"},
	"remote":        {flags: "v", operands: none, long: "verbose"},
	"stash":         {operands: 1, check: begins("list")},
	"worktree":      {operands: 1, check: begins("list"), long: "porcelain"},
	"reflog":        {operands: none, number: true, long: "oneline all date="},
	"describe":      {long: "tags always dirty dirty= long abbrev= all contains match= exclude= exact-match first-parent"},
	"shortlog":      {flags: "sne", long: "summary numbered email since= until= all no-merges"},
	"merge-base":    {flags: "a", long: "all is-ancestor fork-point octopus independent"},
	"for-each-ref":  {long: refOptions + "count="},
	"show-ref":      {flags: "dqs", long: "heads tags verify quiet head dereference hash abbrev"},
	"count-objects": {flags: "vH"},
	"check-ignore":  {flags: "vnqz", long: "verbose no-index non-matching quiet"},
	"config": {flags: "lz", operands: 2, check: only("--get --get-all --get-regexp --list -l"), long: "get get-all " +
		"get-regexp list global local system show-origin show-scope name-only null type= includes"},
}
