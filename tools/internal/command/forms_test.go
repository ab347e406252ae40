package command

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// ways to run a command, a line each, with \n for a line break: % is the command, @ is it as one quoted word, and §
// is it in double quotes.
const ways = `(%)
{ %; }
! %
time %
true && %
false || %
true; %
true | %
% | true
true & %
% & wait
if %; then :; fi
while ! %; do break; done
for i in 1; do %; done
case x in x) %;; esac
f() { %; }; f
function g { %; }; g
echo $(%)
x=$(%)
export x=$(%)
cat <(%)
: ${x:=$(%)}
[[ -n $(%) ]]
: $(($(%) 1))
((a[$(%)]))
a=(1 $(%))
coproc { %; }; wait
echo 1 # x\n%
echo \\\n  ; %
: <<E\n$(%)\nE\n
sh -c @
bash -ec @
bash -c -x @
bash -euo pipefail -c @
eval @
eval §
eval %
env %
env A=b %
env -i PATH="$PATH" %
env -S §
command %
exec %
builtin eval @
nohup %
nice -n 5 %
timeout 5 %
timeout -k 1 5 %
setsid -w %
stdbuf -o0 %
xargs % <<< x
xargs -I{} % <<< x
xargs sh -c @ <<< x
find . -maxdepth 0 -exec % \;
find . -maxdepth 0 -exec sh -c @ \;
bash <<'E'\n%\nE\n
bash <<< @
echo @ | bash
trap @ EXIT
. <(echo @)
source /dev/stdin <<< @
git -c alias.x='!touch {M}' x
x=@; eval "$x"
x=@; bash -c "$x"
PS4='$(touch {M})'; set -x; :
x='a[$(touch {M})]'; echo $((x))
test -v 'a[$(touch {M})]'
printf -v 'a[$(touch {M})]' x
x='$(touch {M})'; echo ${x@P}
awk 'BEGIN{system("touch {M}")}'
sed '1e touch {M}' ../in.txt
sed 's/data/touch {ME}/e' ../in.txt
perl -e 'system("touch {M}")'
tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec=@ ../in.txt
alias ls=@; ls
mapfile -C @ -c 1 x < ../in.txt
hash -p /usr/bin/touch ls; ls {M}
jobs -x %
split --filter=@ ../in.txt
t""ouch {M}
\touch {M}
'touch' {M}
$'touch' {M}
$'\x74ouch' {M}
/usr/bin/touch {M}
/usr/bin/../bin/touch {M}
{touch,{M}}
/usr/bin/tou?h {M}
tou${x}ch {M}
t=touch; $t {M}
$(echo touch) {M}
touch$IFS{M}
"$(printf touch)" {M}
~+/../x.sh
command -p touch {M}
exec -a b touch {M}
x() { "$@"; }; x touch {M}
for c in touch; do $c {M}; done
set -- touch {M}; "$@"
read c <<< touch; $c {M}`

// TestForms: a forbidden command is found in every way of running it, and in ways within ways.
func TestForms(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	rules := Rules{Deny: parse(t, "touch:*", "x.sh:*")}
	list := strings.Split(ways, "\n")
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	double := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	within := func(way, text string) string {
		quoted := "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		return strings.NewReplacer("%", text, "@", quoted, "§", `"`+double.Replace(text)+`"`, `\n`, "\n").Replace(way)
	}
	seen := make(map[string]bool)
	var texts []string
	try := func(text string) {
		text = s.fill(text)
		if v := Judge(text, rules); v.Decision != Deny && v.Decision != Ask && !seen[text] {
			texts = append(texts, text)
		}
		seen[text] = true
	}
	for _, way := range list {
		try(within(way, "touch {M}"))
	}
	tries := 800
	if nightly() {
		tries = 50_000
	}
	for range tries {
		text := "touch {M}"
		for range 2 + rnd.IntN(2) {
			text = within(list[rnd.IntN(len(list))], text)
		}
		try(text)
	}
	for chunk := range slices.Chunk(texts, 100) {
		for _, text := range s.acted(t, chunk...) {
			t.Errorf("seed %d: neither denied nor asked about, and it acts: %q", seed, text)
		}
	}
	t.Logf("%d texts made, %d neither denied nor asked about and run", len(seen), len(texts))
}
