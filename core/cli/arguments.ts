/** Words and flags of a command line: `--name value`, `--name=value`, `--switch`; `--` ends the flags. */
import { errors, type Flags } from '../config.js'

export interface Arguments {
  readonly words: readonly string[]
  readonly flags: Flags
}

const isFlag = (word: string | undefined): boolean => word !== undefined && word.startsWith('--')

/** `switches` never take the next word as their value. */
export const parseArguments = (args: readonly string[], switches: ReadonlySet<string>): Arguments => {
  const words: string[] = []
  const flags = new Map<string, string | true>()
  const set = (flag: string, value: string | true): void => {
    if (flags.has(flag)) throw errors.flag_twice({ details: { flag } })
    flags.set(flag, value)
  }
  let rest = [...args]
  while (rest.length > 0) {
    const [word = '', next] = rest
    rest = rest.slice(1)
    if (word === '--') return { words: [...words, ...rest], flags }
    const [, flag, value] = /^--([^=]+)(?:=(.*))?$/su.exec(word) ?? []
    if (word === '-h') set('help', true)
    else if (flag === undefined) words.push(word)
    else if (value !== undefined) set(flag, value)
    else if (switches.has(flag) || next === undefined || isFlag(next)) set(flag, true)
    else {
      set(flag, next)
      rest = rest.slice(1)
    }
  }
  return { words, flags }
}
