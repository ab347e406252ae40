package walk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// types names sets of files by globs for their base names. Names and meanings follow ripgrep's, so that a name learned
// there works here; some spellings that are often tried are added.
var types = map[string]string{
	"ada":           "*.adb *.ads",
	"asciidoc":      "*.adoc *.asc *.asciidoc",
	"asm":           "*.asm *.s *.S",
	"asp":           "*.ascx *.ascx.cs *.ascx.vb *.asp *.aspx *.aspx.cs *.aspx.vb",
	"astro":         "*.astro",
	"avro":          "*.avdl *.avpr *.avsc",
	"awk":           "*.awk",
	"bash":          "*.bash *.sh .bashrc .bash_profile .bash_login .bash_logout .profile",
	"bat":           "*.bat *.cmd",
	"bazel":         "*.bazel *.bazelrc *.bzl *.BUILD BUILD MODULE.bazel WORKSPACE WORKSPACE.bazel WORKSPACE.bzlmod",
	"bicep":         "*.bicep *.bicepparam",
	"bitbake":       "*.bb *.bbappend *.bbclass *.conf *.inc",
	"c":             "*.[chH] *.[chH].in *.cats",
	"cabal":         "*.cabal",
	"clojure":       "*.clj *.cljc *.cljs *.cljx",
	"cmake":         "*.cmake CMakeLists.txt",
	"cmd":           "*.bat *.cmd",
	"coffeescript":  "*.coffee",
	"config":        "*.cfg *.conf *.config *.ini",
	"coq":           "*.v",
	"cpp":           "*.[ChH] *.[ChH].in *.[ch]pp *.[ch]pp.in *.[ch]xx *.[ch]xx.in *.cc *.cc.in *.hh *.hh.in *.inl *.ipp *.tpp *.ixx *.cppm",
	"crystal":       "*.cr *.ecr Projectfile shard.yml",
	"cs":            "*.cs",
	"csharp":        "*.cs",
	"cshtml":        "*.cshtml",
	"csproj":        "*.csproj",
	"css":           "*.css *.scss",
	"csv":           "*.csv",
	"cuda":          "*.cu *.cuh",
	"cython":        "*.pxd *.pxi *.pyx",
	"d":             "*.d",
	"dart":          "*.dart",
	"devicetree":    "*.dts *.dtsi *.dtso",
	"dhall":         "*.dhall",
	"diff":          "*.diff *.patch",
	"docker":        "*Dockerfile* Containerfile",
	"dockercompose": "docker-compose.yml docker-compose.yaml docker-compose.*.yml docker-compose.*.yaml compose.yml compose.yaml",
	"dockerfile":    "*Dockerfile* Containerfile",
	"dts":           "*.dts *.dtsi",
	"edn":           "*.edn",
	"elisp":         "*.el",
	"elixir":        "*.eex *.ex *.exs *.heex *.leex *.livemd",
	"elm":           "*.elm",
	"erb":           "*.erb",
	"erlang":        "*.erl *.hrl",
	"fennel":        "*.fnl",
	"fish":          "*.fish",
	"flatbuffers":   "*.fbs",
	"fortran":       "*.f *.F *.f77 *.F77 *.f90 *.F90 *.f95 *.F95 *.f03 *.f08 *.pfo",
	"fsharp":        "*.fs *.fsi *.fsx",
	"gdscript":      "*.gd",
	"gleam":         "*.gleam",
	"gn":            "*.gn *.gni",
	"go":            "*.go",
	"golang":        "*.go",
	"gradle":        "*.gradle *.gradle.kts gradle-wrapper.* gradle.properties gradlew gradlew.bat",
	"graphql":       "*.gql *.graphql *.graphqls",
	"groovy":        "*.gradle *.groovy",
	"h":             "*.h *.hh *.hpp",
	"haml":          "*.haml",
	"hare":          "*.ha",
	"haskell":       "*.c2hs *.cpphs *.hs *.hsc *.lhs",
	"hbs":           "*.hbs *.handlebars",
	"hcl":           "*.hcl *.tf *.tfvars",
	"hs":            "*.hs *.lhs",
	"html":          "*.ejs *.htm *.html",
	"idris":         "*.idr *.lidr",
	"ini":           "*.cfg *.ini",
	"janet":         "*.janet",
	"java":          "*.java *.jsp *.jspx *.properties",
	"javascript":    "*.cjs *.js *.jsx *.mjs *.vue",
	"jinja":         "*.j2 *.jinja *.jinja2",
	"jl":            "*.jl",
	"js":            "*.cjs *.js *.jsx *.mjs *.vue",
	"json":          "*.json *.sarif composer.lock *.json5 *.jsonc",
	"jsonl":         "*.jsonl *.ndjson",
	"jsx":           "*.jsx",
	"julia":         "*.jl",
	"jupyter":       "*.ipynb *.jpynb",
	"kconfig":       "Kconfig Kconfig.*",
	"kotlin":        "*.kt *.kts",
	"kt":            "*.kt *.kts",
	"lean":          "*.lean",
	"less":          "*.less",
	"license":       "[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]* *[.-]LICEN[CS]E* UNLICENSE* COPYING* COPYRIGHT* NOTICE* PATENTS* EULA*",
	"lisp":          "*.el *.jl *.lisp *.lsp *.sc *.scm",
	"llvm":          "*.ll",
	"lock":          "*.lock package-lock.json pnpm-lock.yaml go.sum",
	"log":           "*.log",
	"lua":           "*.lua",
	"m4":            "*.ac *.m4",
	"make":          "*.mak *.mk Makefile.* [Gg][Nn][Uu]makefile [Gg][Nn][Uu]makefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile [Mm]akefile.am [Mm]akefile.in",
	"makefile":      "*.mak *.mk Makefile.* [Gg][Nn][Uu]makefile [Mm]akefile [Mm]akefile.am [Mm]akefile.in",
	"man":           "*.[0-9lnpx] *.[0-9][cEFMmpSx]",
	"markdown":      "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn",
	"matlab":        "*.m",
	"md":            "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn",
	"meson":         "meson.build meson.options meson_options.txt",
	"minified":      "*.min.css *.min.html *.min.js",
	"ml":            "*.ml",
	"mojo":          "*.mojo",
	"msbuild":       "*.csproj *.fsproj *.vbproj *.proj *.props *.sln *.slnf *.slnx *.targets *.vcxproj",
	"nim":           "*.nim *.nimble *.nimf *.nims",
	"nix":           "*.nix",
	"objc":          "*.h *.m",
	"objcpp":        "*.h *.mm",
	"ocaml":         "*.ml *.mli *.mll *.mly",
	"org":           "*.org *.org_archive",
	"pascal":        "*.dpr *.inc *.lpr *.pas *.pp",
	"pdf":           "*.pdf",
	"perl":          "*.PL *.perl *.pl *.plh *.plx *.pm *.t",
	"php":           "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml",
	"po":            "*.po *.pot",
	"pod":           "*.pod",
	"postscript":    "*.eps *.ps",
	"powershell":    "*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1",
	"prisma":        "*.prisma",
	"prolog":        "*.P *.pl *.pro *.prolog",
	"proto":         "*.proto",
	"protobuf":      "*.proto",
	"ps":            "*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1",
	"pug":           "*.pug *.jade",
	"puppet":        "*.epp *.erb *.pp *.rb",
	"purs":          "*.purs",
	"py":            "*.py *.pyi",
	"python":        "*.py *.pyi",
	"qmake":         "*.prf *.pri *.pro",
	"qml":           "*.qml",
	"qrc":           "*.qrc",
	"qui":           "*.ui",
	"r":             "*.R *.Rmd *.Rnw *.r *.rmd *.rnw",
	"racket":        "*.rkt",
	"raku":          "*.p6 *.pl6 *.pm6 *.raku *.rakudoc *.rakumod *.rakutest",
	"razor":         "*.cshtml *.razor",
	"rb":            "*.gemspec *.rake *.rb *.rbw .irbrc Gemfile Rakefile config.ru",
	"readme":        "README* *README",
	"reasonml":      "*.re *.rei",
	"rescript":      "*.res *.resi",
	"robot":         "*.robot",
	"rs":            "*.rs",
	"rst":           "*.rst",
	"ruby":          "*.gemspec *.rake *.rb *.rbw .irbrc Gemfile Rakefile config.ru",
	"rust":          "*.rs",
	"sass":          "*.sass *.scss",
	"scala":         "*.sbt *.scala *.sc",
	"scss":          "*.scss",
	"sh": "*.bash *.bashrc *.csh *.cshrc *.env *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout .bash_profile " +
		".bashrc .cshrc .env .kshrc .login .logout .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc " +
		"bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc",
	"shell":      "*.bash *.csh *.fish *.ksh *.sh *.tcsh *.zsh",
	"slim":       "*.skim *.slim *.slime",
	"smarty":     "*.tpl",
	"sml":        "*.sig *.sml",
	"solidity":   "*.sol",
	"spec":       "*.spec",
	"sql":        "*.psql *.sql",
	"starlark":   "*.bzl *.star *.sky",
	"stylus":     "*.styl",
	"sv":         "*.h *.sv *.svh *.v *.vg",
	"svelte":     "*.svelte *.svelte.ts *.svelte.js",
	"svg":        "*.svg",
	"swift":      "*.swift",
	"swig":       "*.def *.i",
	"systemd":    "*.automount *.conf *.device *.link *.mount *.path *.scope *.service *.slice *.socket *.swap *.target *.timer",
	"tcl":        "*.tcl",
	"templ":      "*.templ",
	"terraform":  "*.tf *.tf.json *.tfvars *.tfvars.json *.tfrc *.terraformrc *.terraform.lock.hcl terraform.rc",
	"tex":        "*.bib *.cls *.dtx *.ins *.ltx *.sty *.tex",
	"texinfo":    "*.texi *.texinfo",
	"text":       "*.txt",
	"textile":    "*.textile",
	"tf":         "*.tf *.tf.json *.tfvars *.tfvars.json *.tfrc *.terraformrc *.terraform.lock.hcl terraform.rc",
	"thrift":     "*.thrift",
	"toml":       "*.toml Cargo.lock",
	"ts":         "*.cts *.mts *.ts *.tsx",
	"tsx":        "*.tsx",
	"twig":       "*.twig",
	"txt":        "*.txt",
	"typescript": "*.cts *.mts *.ts *.tsx",
	"typst":      "*.typ",
	"usd":        "*.usd *.usda *.usdc",
	"v":          "*.v *.vsh",
	"vala":       "*.vala *.vapi",
	"vb":         "*.vb",
	"verilog":    "*.sv *.svh *.v *.vh",
	"vhdl":       "*.vhd *.vhdl",
	"vim":        "*.vim .vimrc .gvimrc vimrc gvimrc _vimrc _gvimrc",
	"vimscript":  "*.vim .vimrc .gvimrc vimrc gvimrc _vimrc _gvimrc",
	"vue":        "*.vue",
	"wat":        "*.wast *.wat",
	"webidl":     "*.idl *.webidl *.widl",
	"wgsl":       "*.wgsl",
	"wiki":       "*.mediawiki *.wiki",
	"xml":        "*.dtd *.rng *.sch *.xhtml *.xjb *.xml *.xml.dist *.xsd *.xsl *.xslt",
	"yacc":       "*.y *.yy",
	"yaml":       "*.yaml *.yml",
	"yang":       "*.yang",
	"yml":        "*.yaml *.yml",
	"zig":        "*.zig *.zon",
	"zsh":        "*.zsh .zlogin .zlogout .zprofile .zshenv .zshrc zlogin zlogout zprofile zshenv zshrc",
}

// TypeNames lists the names that LookupType knows, sorted.
func TypeNames() []string { return slices.Sorted(maps.Keys(types)) }

// LookupType returns the globs for base names that a named type stands for. The error for an unknown name tells near
// ones and then all.
func LookupType(name string) ([]string, error) {
	if globs, ok := types[name]; ok {
		return strings.Fields(globs), nil
	}
	hint := "use one of"
	if near := nearTypes(name); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s? All types:", strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("type %q is unknown; %s %s", name, hint, strings.Join(TypeNames(), ", "))
}

// nearTypes are the types that an unknown name may mean: those that hold such an extension, a longer or shorter form,
// up to two letters off.
func nearTypes(name string) []string {
	name = strings.ToLower(strings.TrimLeft(name, "*."))
	if _, ok := types[name]; ok {
		return []string{name}
	}
	all := TypeNames()
	off := min(2, len(name)/3)
	var near []string
	for _, t := range all {
		form := len(t) > 1 && strings.HasPrefix(name, t) || len(name) > 1 && strings.HasPrefix(t, name)
		if form || distance(name, t) <= off || slices.Contains(strings.Fields(types[t]), "*."+name) {
			near = append(near, t)
		}
	}
	return near[:min(len(near), maxNames)]
}

// distance is the number of letters to insert, delete or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// typeSet tells which base names belong to one of some types.
type typeSet struct {
	names map[string]bool
	exts  map[string]bool // *.ext by .ext
	other []segment
}

// newTypeSet returns nil, which holds every name, when there are no types.
func newTypeSet(names []string) (*typeSet, error) {
	if len(names) == 0 {
		return nil, nil
	}
	t := &typeSet{names: map[string]bool{}, exts: map[string]bool{}}
	for _, name := range names {
		globs, err := LookupType(name)
		if err != nil {
			return nil, err
		}
		for _, g := range globs {
			ext, star := strings.CutPrefix(g, "*.")
			switch {
			case star && !strings.ContainsAny(ext, special+"."):
				t.exts["."+ext] = true
			case !strings.ContainsAny(g, special):
				t.names[g] = true
			default:
				segs := segments(g)
				t.other = append(t.other, segs[len(segs)-1])
			}
		}
	}
	return t, nil
}

func (t *typeSet) has(name string) bool {
	if t == nil || t.names[name] {
		return true
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 && t.exts[name[i:]] {
		return true
	}
	return slices.ContainsFunc(t.other, func(s segment) bool { return s.fits(name) })
}
