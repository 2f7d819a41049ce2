/** Sentences of a daemon name its routes; who types command lines knows the commands that stand for them. */
import type { Command } from '../../plugin/command.js'
import { commandLine } from '../../base/text/command-text.js'

const named = /\b(GET|POST|PUT|PATCH|DELETE) (\/v1\/[\w{}./%-]*[\w}])/gu

type Values = Readonly<Record<string, string>>

/** Values of the route's parameters; undefined if the path is another. */
const valuesOf = (route: string, path: string): Values | undefined => {
  const [ours, theirs] = [route.split('/'), path.split('/')]
  const fits = ours.every((part, at) => part.startsWith('{') || part === theirs[at])
  if (!fits || ours.length !== theirs.length) return undefined
  return Object.fromEntries(
    ours.flatMap((part, at) => (part.startsWith('{') ? [[part.slice(1, -1), theirs[at] ?? '']] : [])),
  )
}

/** What stands in a path, if it is one that a daemon wrote. */
const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/**
 * `{run_id}` in a sentence is the run that was typed, else any: `RUN_ID`, as an argument that the route has no
 * parameter for.
 */
const argumentOf = (name: string, values: Values, typed: Values): string => {
  const value = values[name] ?? ''
  if (value !== '' && !value.startsWith('{')) return decoded(value)
  return (value === '' ? undefined : typed[name]) ?? name.toUpperCase()
}

/** A flag that must be given, with a word for its value: `--digest DIGEST`; a switch has none. */
const neededFlag = ({ flags = {} }: Command, word: string): string => {
  const flag = flags[word.slice(2)]
  return flag?.kind === 'switch' ? word : `${word} ${(flag?.value ?? word.slice(2)).toUpperCase()}`
}

/** With all that the command refuses to go without; of what one is needed of, the first. */
const lineOf = (command: Command, asked: string, typed: Values): string | undefined => {
  const { route = '', path, args = [], needs = [], oneOf: [one = ''] = [] } = command
  const flags = one.startsWith('--') ? [...needs, one] : needs
  const isOwn = (arg: string): boolean => !arg.endsWith('?') || one === `<${arg.slice(0, -1)}>`
  const values = valuesOf(route, asked)
  if (values === undefined) return undefined
  return commandLine(
    [...path, ...flags.map((word) => neededFlag(command, word))].join(' '),
    ...args.filter(isOwn).map((arg) => argumentOf(arg.replace(/\?$/u, ''), values, typed)),
  )
}

/** The same sentence with `holdfast runs list` in place of `GET /v1/runs`; a route without a command stays. */
export const inCommands = (sentence: string, commands: readonly Command[], typed: Values = {}): string =>
  sentence.replaceAll(named, (all) => {
    const [line] = commands.flatMap((command) => lineOf(command, all, typed) ?? [])
    return line ?? all
  })
