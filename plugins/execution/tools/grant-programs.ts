/** Programs of which not every command that begins with their name may be covered (approvals-21, approvals-26). */

interface Program {
  /** The words behind its name that run nothing which the rest of the command names. */
  readonly first: ReadonlySet<string>
  /** Words behind those that the prefix does not cover all the same. */
  readonly isLoose: (word: string) => boolean
}

const wordsIn = (...lines: readonly string[]): string[] => lines.flatMap((line) => line.split(' '))

const nothing: Program = { first: new Set(), isLoose: () => true }
/** Its options name files of settings, wrappers and other folders; those behind `--` are for what it starts. */
const builder = (first: string): Program => ({
  first: new Set(wordsIn(first)),
  isLoose: (word) => word.startsWith('-'),
})

/** Those that run what their arguments say, as far as they are known. */
const programs: ReadonlyMap<string, Program> = new Map([
  ...wordsIn(
    // Shells and what starts others.
    '. ash at bash batch builtin busybox bwrap capsh catchsegv cgexec chronic chroot chrt command coproc csh dash',
    'dbus-run-session direnv doas dumb-init eatmydata elvish entr env eval exec expect fakeroot faketime find',
    'firejail fish flock gosu ionice ip ksh linux32 linux64 ltrace mksh nice nohup nsenter nu numactl parallel pkexec',
    'prlimit proxychains proxychains4 rbash retry run-parts runuser screen script setarch setpriv setsid sg sh source',
    'start-stop-daemon stdbuf strace su sudo systemctl systemd-inhibit systemd-run taskset tcsh time timeout tini',
    'tmux torsocks toybox trap unbuffer unshare valgrind watch xargs xonsh xvfb-run yash zsh',
    // Interpreters.
    'awk bun bunx deno elixir erl escript gawk gdb gdb-multiarch ghci groovy gsed guile hhvm iex ipython java jruby',
    'jshell julia lldb lua luajit m4 mawk nawk node nodejs npx ocaml octave original-awk osascript perl php pnpx psql',
    'pwsh pypy python R racket Rscript ruby runghc sbcl scala sed sqlite mysql swipl tclsh texlua ts-node ts-node-esm',
    'tsx uv uvx zx',
    // Builders and what installs.
    'ant apt apt-get asdf bazel bmake brew bundle cmake composer conda dnf dotnet dpkg flatpak gem gmake gradle',
    'gradlew guix just lein make meson mise mix mvn mvnw ninja nix nix-shell nox pip pipenv pipx poetry rake rpm sbt',
    'scons snap stack tox yum',
    // Editors and pagers.
    'ed emacs emacsclient ex gvim less man more most nano nvim pico rvim vi view vim vimdiff',
    // Others that have an option for it.
    'bsdtar cpio docker fd fdfind gtar helm hg jj kubectl nc ncat nerdctl podman rg rsync scp sftp socat sort split',
    'ssh ssh-agent ssh-keygen sshpass svn tar tcpdump wget zip',
  ).map((name) => [name, nothing] as const),
  [
    'git',
    {
      first: new Set(wordsIn('add branch commit diff log ls-files rev-parse show status switch')),
      // Git takes the beginning of an option for the whole: `--output` writes any file.
      isLoose: (word) => /^--(?:ext|ou)/u.test(word),
    },
  ],
  ['cargo', builder('build check clippy fmt test')],
  ['go', builder('build fmt list test vet')],
  ['npm', builder('run test')],
  ['pnpm', builder('run test')],
  ['yarn', builder('run test')],
])

/** Of versions of them and of loaders too: `python3.12`, `vim.tiny`, `git-shell`, `ld-linux-x86-64.so.2`. */
const programOf = (name: string): Program | undefined =>
  programs.get(name) ??
  programs.get(name.replace(/[\d.]+$/u, '')) ??
  (/^(?:ld[-.]|vim\.|git-)/u.test(name) ? nothing : undefined)

const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Why commands that begin with these words cannot be covered; undefined if they can. */
export const programFault = ([path = '', word, script]: readonly string[]): string | undefined => {
  const name = nameIn(path)
  const program = programOf(name)
  if (program === undefined) return undefined
  if (program.first.size === 0) return `must not begin with ${name}, which runs other programs`
  if (word === undefined || !program.first.has(word))
    return `must go on behind ${name}, which runs other programs, with one of ${[...program.first].join(', ')}`
  return word === 'run' && (script === undefined || script.startsWith('-'))
    ? `must name what ${name} run is to run`
    : undefined
}

/** True if words behind a prefix have its program do no more than the prefix says. */
export const staysWithin = ([path = '']: readonly string[], rest: readonly string[]): boolean => {
  const program = programOf(nameIn(path))
  const end = rest.indexOf('--')
  return program === undefined || !(end === -1 ? rest : rest.slice(0, end)).some(program.isLoose)
}
