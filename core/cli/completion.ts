/** `completion bash|zsh|fish`: scripts that complete command lines, made from the table of commands. */
import { defineCommand, type Command } from '../plugin/command.js'
import { globals, globalsOf, serveSwitches, switchesOf } from './arguments.js'
import { errors } from './told/errors.js'
import { choicesOf, type PluginFlag } from './help.js'

/** What may follow some words: further words, and flags. */
interface Place {
  readonly after: string
  readonly words: readonly string[]
  readonly flags: readonly string[]
  /** What the values of some of the flags may be. */
  readonly choices: Readonly<Record<string, readonly string[]>>
}

const globalChoices = { output: ['pretty', 'json'] }

const wordsAfter = (commands: readonly Command[], path: readonly string[]): string[] => [
  ...new Set(
    commands
      .filter((command) => command.path.length > path.length && path.every((word, at) => command.path[at] === word))
      .flatMap((command) => command.path.slice(path.length, path.length + 1)),
  ),
]

/** The words that the first argument may be. */
const argumentsOf = ({ args: [first = ''] = [], choices = {} }: Command): readonly string[] => choices[first] ?? []

const placeAfter = (commands: readonly Command[], after: string): Place => {
  const command = commands.find(({ path }) => path.join(' ') === after)
  return {
    after,
    words: [...wordsAfter(commands, after.split(' ')), ...(command === undefined ? [] : argumentsOf(command))],
    flags: [...Object.keys(command?.flags ?? {}), ...globalsOf(command ?? {})],
    choices: { ...command?.choices, ...globalChoices },
  }
}

/** Places of flags of serve: after its name, and before any word. */
const servePlaces = (commands: readonly Command[], serve: readonly PluginFlag[]): Place[] => {
  const flags = serve.map(({ flag }) => flag)
  const choices = Object.fromEntries(serve.map(({ flag, schema }) => [flag, choicesOf(schema)]))
  const first = ['serve', ...wordsAfter(commands, [])]
  return [
    { after: 'serve', words: [], flags: [...flags, 'help'], choices },
    { after: '', words: first, flags: [...flags, ...globals, 'version'], choices: { ...choices, ...globalChoices } },
  ]
}

/** The longest words first: the first place that fits is the closest. */
const placesOf = (commands: readonly Command[], serve: readonly PluginFlag[]): Place[] => {
  const paths = new Set(commands.flatMap(({ path }) => path.map((_, at) => path.slice(0, at + 1).join(' '))))
  return [...[...paths].map((after) => placeAfter(commands, after)), ...servePlaces(commands, serve)].toSorted(
    (a, b) => b.after.length - a.after.length,
  )
}

interface Table {
  readonly places: readonly Place[]
  readonly switches: readonly string[]
}

const lineOf = ({ after }: Place): string => (after === '' ? '' : `${after} `)
const asFlags = (names: readonly string[]): string => names.map((flag) => `--${flag}`).join(' ')

/** Branches that bash and zsh share: `line` is what was typed before, without flags, each word with a blank. */
const branches = ({ places }: Table): string =>
  places
    .flatMap((place) => [
      `    '${lineOf(place)}') words='${place.words.join(' ')}' flags='${asFlags(place.flags)}' ;;`,
      ...(place.after === '' ? [] : [`    '${lineOf(place)}'*) flags='${asFlags(place.flags)}' ;;`]),
    ])
    .join('\n')

/** What may stand after a flag that takes a value: its choices, or nothing of ours. */
const valueBranches = ({ places, switches }: Table): string =>
  [
    `    ${switches.map((flag) => `'--${flag} '*`).join('|')}) ;;`,
    ...places.flatMap((place) =>
      Object.entries(place.choices)
        .filter(([, words]) => words.length > 0)
        .map(
          ([flag, words]) =>
            `    '--${flag} ${lineOf(place)}'${place.after === '' ? '' : '*'}) words='${words.join(' ')}' flags='' ;;`,
        ),
    ),
    `    '--'*) words='' flags='' ;;`,
  ].join('\n')

/** Skips flags and their values; `name` is the array of words in this shell. */
const skipFlags = (name: string, switches: readonly string[]): string => `    case \${${name}[at]} in
      ${switches.map((flag) => `--${flag}`).join('|')}|--|-h|--*=*) ;;
      --*) if [[ \${${name}[at + 1]} == '=' ]]; then at=$((at + 2)); else at=$((at + 1)); fi ;;
      *) line+="\${${name}[at]} " ;;
    esac`

const bash = (table: Table): string => `# Load it with: source <(holdfast completion bash)
_holdfast() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} line='' words='' flags='' at
  if [[ $word == '=' ]]; then word=''; fi
  if [[ $before == '=' ]]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
${skipFlags('COMP_WORDS', table.switches)}
  done
  case $line in
${branches(table)}
  esac
  case "$before $line" in
${valueBranches(table)}
  esac
  if [[ $word == -* ]]; then words=$flags; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _holdfast holdfast`

const zsh = (table: Table): string => `#compdef holdfast
# Load it with: source <(holdfast completion zsh)
_holdfast() {
  local line='' flags='' at
  local choices=''
  for ((at = 2; at < CURRENT; at++)); do
${skipFlags('words', table.switches)}
  done
  local word="\${words[CURRENT]}" before="\${words[CURRENT - 1]}"
  if [[ $word == --*=* ]]; then before="\${word%%=*}" word=''; compset -P '*='; fi
  () {
    local words=''
    case $line in
${branches(table)}
    esac
    case "$before $line" in
${valueBranches(table)}
    esac
    if [[ $word == -* ]]; then words=$flags; fi
    choices=$words
  }
  if [[ -n $choices ]]; then compadd -- \${=choices}; else _files; fi
}
compdef _holdfast holdfast`

const fishFlag = ({ after, choices }: Place, flag: string, switches: readonly string[]): string => {
  const words = choices[flag] ?? []
  const takes = switches.includes(flag) ? '' : words.length > 0 ? ` -x -a '${words.join(' ')}'` : ' -r'
  return `complete -c holdfast -n "__holdfast_${after === '' ? 'is' : 'in'} '${after}'" -l ${flag}${takes}`
}

const fish = ({ places, switches }: Table): string => {
  const line = (place: Place): string[] => [
    ...(place.words.length === 0
      ? []
      : [`complete -c holdfast -n "__holdfast_is '${place.after}'" -f -a '${place.words.join(' ')}'`]),
    ...place.flags.map((flag) => fishFlag(place, flag, switches)),
  ]
  return `# Load it with: holdfast completion fish | source
function __holdfast_line
  set -l line
  set -l value no
  for word in (commandline -opc)[2..-1]
    if test $value = yes
      set value no
    else if contains -- $word ${asFlags(switches)} -- -h; or string match -q -- '--*=*' $word
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
${places.flatMap(line).join('\n')}`
}

const shells = ['bash', 'zsh', 'fish']

/** The script for one shell. */
export const completionScript = (shell: string, commands: readonly Command[], serve: readonly PluginFlag[]): string => {
  const switches = [...switchesOf(commands), ...serveSwitches, 'version']
  const table = { places: placesOf(commands, serve), switches: [...new Set(switches)] }
  switch (shell) {
    case 'bash':
      return bash(table)
    case 'zsh':
      return zsh(table)
    case 'fish':
      return fish(table)
    default:
      throw errors.shell_unknown({ details: { shell } })
  }
}

/** The command itself is in its own table. */
export const completionCommand = (others: readonly Command[], serve: () => Promise<readonly PluginFlag[]>): Command => {
  const completion: Command = defineCommand({
    path: ['completion'],
    summary: 'A script for bash, zsh or fish that completes command lines.',
    args: ['shell'],
    choices: { shell: shells },
    run: async ({ args, print }) => {
      print(completionScript(args['shell'] ?? '', [...others, completion], await serve()))
    },
  })
  return completion
}
