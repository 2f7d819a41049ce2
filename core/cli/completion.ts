/** `completion bash|zsh|fish`: scripts that complete command lines, made from the table of commands. */
import { defineCommand, type Command } from '../plugin/command.js'
import { daemonSettings } from '../base/settings.js'
import { switchesOf } from './arguments.js'
import { errors } from './errors.js'
import type { PluginFlag } from './help.js'

/** What may follow some words: further words, and flags. */
interface Place {
  readonly after: string
  readonly words: readonly string[]
  readonly flags: readonly string[]
}

const globals = ['base-url', 'token', 'token-file', 'output', 'help']

const wordsAfter = (commands: readonly Command[], path: readonly string[]): string[] => [
  ...new Set(
    commands
      .filter((command) => command.path.length > path.length && path.every((word, at) => command.path[at] === word))
      .flatMap((command) => command.path.slice(path.length, path.length + 1)),
  ),
]

const flagsAfter = (commands: readonly Command[], after: string): string[] => {
  const command = commands.find(({ path }) => path.join(' ') === after)
  return [...Object.keys(command?.flags ?? {}), ...globals]
}

/** The longest words first: the first place that fits is the closest. */
const placesOf = (commands: readonly Command[], serve: readonly string[]): Place[] => {
  const paths = new Set(commands.flatMap(({ path }) => path.map((_, at) => path.slice(0, at + 1).join(' '))))
  const places = [...paths].map((after) => ({
    after,
    words: wordsAfter(commands, after.split(' ')),
    flags: flagsAfter(commands, after),
  }))
  return [...places, { after: 'serve', words: [], flags: [...serve, 'help'] }].toSorted(
    (a, b) => b.after.length - a.after.length,
  )
}

const listed = ({ words, flags }: Place): string =>
  `words='${words.join(' ')}' flags='${flags.map((flag) => `--${flag}`).join(' ')}'`

/** Branches that bash and zsh share: `line` is what was typed before, without flags, each word with a blank. */
const branches = (places: readonly Place[], first: readonly string[]): string =>
  [
    ...places.map((place) => `    '${place.after} '*) ${listed(place)} ;;`),
    `    '') words='serve ${first.join(' ')}' flags='--help' ;;`,
  ].join('\n')

/** Skips flags and their values; `name` is the array of words in this shell. */
const skipFlags = (name: string, switches: readonly string[]): string => `    case \${${name}[at]} in
      ${switches.map((flag) => `--${flag}`).join('|')}|-h|--*=*) ;;
      --*) if [[ \${${name}[at + 1]} == '=' ]]; then at=$((at + 2)); else at=$((at + 1)); fi ;;
      *) line+="\${${name}[at]} " ;;
    esac`

interface Table {
  readonly cases: string
  readonly switches: readonly string[]
}

const bash = ({ cases, switches }: Table): string => `# Load it with: source <(holdfast completion bash)
_holdfast() {
  local word=\${COMP_WORDS[COMP_CWORD]} line='' words='' flags='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
${skipFlags('COMP_WORDS', switches)}
  done
  case $line in
${cases}
  esac
  if [[ \${COMP_WORDS[COMP_CWORD - 1]} == --output ]]; then words='pretty json'; fi
  if [[ $word == -* ]]; then words=$flags; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _holdfast holdfast`

const zsh = ({ cases, switches }: Table): string => `#compdef holdfast
# Load it with: source <(holdfast completion zsh)
_holdfast() {
  local line='' flags='' at
  local choices=''
  for ((at = 2; at < CURRENT; at++)); do
${skipFlags('words', switches)}
  done
  local -a typed=("\${words[@]}")
  () {
    local words=''
    case $line in
${cases}
    esac
    if [[ \${typed[CURRENT - 1]} == --output ]]; then words='pretty json'; fi
    if [[ \${typed[CURRENT]} == -* ]]; then words=$flags; fi
    choices=$words
  }
  if [[ -n $choices ]]; then compadd -- \${=choices}; else _files; fi
}
compdef _holdfast holdfast`

const fish = (places: readonly Place[], first: readonly string[], switches: readonly string[]): string => {
  const line = ({ after, words, flags }: Place): string[] => [
    ...(words.length === 0 ? [] : [`complete -c holdfast -n "__holdfast_is '${after}'" -a '${words.join(' ')}'`]),
    ...flags.map(
      (flag) => `complete -c holdfast -n "__holdfast_in '${after}'" -l ${flag}${switches.includes(flag) ? '' : ' -r'}`,
    ),
  ]
  return `# Load it with: holdfast completion fish | source
function __holdfast_line
  set -l line
  set -l value no
  for word in (commandline -opc)[2..-1]
    if test $value = yes
      set value no
    else if contains -- $word ${switches.map((flag) => `--${flag}`).join(' ')} -h; or string match -q -- '--*=*' $word
      continue
    else if string match -q -- '--*' $word
      set value yes
    else
      set -a line $word
    end
  end
  echo "$line"
end
function __holdfast_is
  test (__holdfast_line) = "$argv[1]"
end
function __holdfast_in
  string match -q -- "$argv[1] *" (__holdfast_line)" "
end
complete -c holdfast -n "__holdfast_is ''" -a 'serve ${first.join(' ')}'
${places.flatMap(line).join('\n')}`
}

/** The script for one shell. */
export const completionScript = (shell: string, commands: readonly Command[], serve: readonly string[]): string => {
  const [places, first] = [placesOf(commands, serve), wordsAfter(commands, [])]
  const switches = [...switchesOf(commands), 'safe']
  const table = { cases: branches(places, first), switches }
  switch (shell) {
    case 'bash':
      return bash(table)
    case 'zsh':
      return zsh(table)
    case 'fish':
      return fish(places, first, switches)
    default:
      throw errors.shell_unknown({ details: { shell } })
  }
}

/** The command itself is in its own table. */
export const completionCommand = (others: readonly Command[], flags: readonly PluginFlag[]): Command => {
  const completion: Command = defineCommand({
    path: ['completion'],
    summary: 'A script for bash, zsh or fish that completes command lines.',
    args: ['shell'],
    run: ({ args, print }) => {
      const serve = [...daemonSettings, ...flags].map(({ flag }) => flag)
      print(completionScript(args['shell'] ?? '', [...others, completion], serve))
      return Promise.resolve()
    },
  })
  return completion
}
