/** Words and flags of a command line: `--name value`, `--name=value`, `--switch`; `--` ends the flags. */
import type { Command, CommandInput } from '../plugin/command.js'
import { errors as configErrors, readSwitch, type Flags } from '../base/config.js'
import { errors } from './told/errors.js'

export interface Arguments {
  readonly words: readonly string[]
  readonly flags: Flags
  /** What flags that are given again are given as. */
  readonly again: ReadonlyMap<string, readonly (string | true)[]>
}

/** What people take for a switch: it must not swallow the next word before it is refused. */
const mistaken: ReadonlySet<string> = new Set(['json'])

/** Flags of every command that calls a daemon. */
export const globals: readonly string[] = ['base-url', 'token', 'token-file', 'output', 'help']

/** Flags of a command beside its own. */
export const globalsOf = ({ alone }: Pick<Command, 'alone'>): readonly string[] =>
  alone === true ? ['output', 'help'] : globals

/** Flags of serve that take no value. */
export const serveSwitches: ReadonlySet<string> = new Set(['safe', 'hold', 'help'])

/** Flags of these commands that take no value. */
export const switchesOf = (commands: readonly Command[]): ReadonlySet<string> =>
  new Set([
    'help',
    ...commands.flatMap(({ flags = {} }) =>
      Object.entries(flags)
        .filter(([, { kind }]) => kind === 'switch')
        .map(([flag]) => flag),
    ),
  ])

/** True or false: a value that is neither is refused, not taken for the switch's being there. */
export const switchValue = (flag: string, value: string | true): boolean => {
  const on = readSwitch(value)
  if (on === undefined) throw errors.flag_invalid({ details: { flag, problem: 'must be true or false' } })
  return on
}

const isFlag = (word: string | undefined): boolean => word !== undefined && word.startsWith('--')

/** `switches` never take the next word as their value. */
export const parseArguments = (args: readonly string[], switches: ReadonlySet<string>): Arguments => {
  const words: string[] = []
  const flags = new Map<string, string | true>()
  const again = new Map<string, (string | true)[]>()
  const set = (flag: string, value: string | true): void => {
    if (flag === 'help' && !switchValue(flag, value)) return
    if (flags.has(flag)) again.set(flag, [...(again.get(flag) ?? []), value])
    else flags.set(flag, value)
  }
  let rest = [...args]
  while (rest.length > 0) {
    const [word = '', next] = rest
    rest = rest.slice(1)
    if (word === '--') return { words: [...words, ...rest], flags, again }
    const [, flag, value] = /^--([^=]+)(?:=(.*))?$/su.exec(word) ?? []
    if (word === '-h') set('help', true)
    else if (flag === undefined) words.push(word)
    else if (value !== undefined) set(flag, value)
    else if (switches.has(flag) || mistaken.has(flag) || next === undefined || isFlag(next)) set(flag, true)
    else {
      set(flag, next)
      rest = rest.slice(1)
    }
  }
  return { words, flags, again }
}

/** Refuses a flag that is given again, but for those of which a command takes several. */
export const refuseTwice = ({ again }: Pick<Arguments, 'again'>, several: readonly string[] = []): void => {
  const flag = [...again.keys()].find((one) => !several.includes(one))
  if (flag !== undefined) throw configErrors.flag_twice({ details: { flag } })
}

/** What the line asks for, wrong as it may be: errors are told in this form too. */
export const outputOf = (args: readonly string[]): CommandInput['output'] => {
  const end = args.indexOf('--')
  const own = end < 0 ? args : args.slice(0, end)
  return own.some((word, at) => word === '--output=json' || (word === '--output' && own[at + 1] === 'json'))
    ? 'json'
    : 'pretty'
}
