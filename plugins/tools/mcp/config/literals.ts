/** Values that stand in the list itself: those whose names tell of a secret are known as secrets (mcp-4). */
import { secretsInAddress, tellsOfSecret, type List, type Secrets } from '../../../../core/plugin.js'
import type { ServerEntry } from './entry.js'

/** Behind the name of a scheme, such as `Bearer`, stands the secret itself. */
const schemed = /^[A-Za-z][\w-]* +(?<rest>\S.*)$/su

const valuesOf = (value: string): string[] => [value, schemed.exec(value)?.groups?.['rest'] ?? value]

/** `--token=x`, `API_KEY=x` and `Authorization: Bearer x`. */
const assigned = /^-{0,2}(?<name>[A-Za-z_][\w.-]*)(?:=|: *)(?<value>.+)$/su
/** A flag whose value is the next argument. */
const flag = /^--?(?<name>[A-Za-z][\w-]*)$/u
/** In text for a shell, values may be quoted. */
const words = /(?:"[^"]*"|'[^']*'|[^\s"'])+/gu
const unquoted = (word: string): string => word.replaceAll(/["']/gu, '')

const inArguments = (args: readonly string[]): string[] =>
  args.flatMap((arg, at) => [...inArgument(arg), ...inFlag(args[at - 1], arg)])

/** The password of `-u name:password`, also in one argument. */
const ofUser = /^(?:-u)?[^\s:/]+:(?<password>[^\s/]\S*)$/su
const inUser = (text: string): string[] => {
  const password = ofUser.exec(text)?.groups?.['password']
  return password === undefined ? [] : [password]
}

/** A path is no secret; nor is another flag, nor the number behind `-p`, which is a port. */
const inFlag = (before: string | undefined, value: string): string[] => {
  const { name } = flag.exec(before ?? '')?.groups ?? {}
  if (name === undefined || /^(?:\.{0,2}\/|--)/u.test(value)) return []
  if (name === 'u' || name === 'user') return inUser(value)
  return tellsOfSecret(name) || (name === 'p' && !/^\d+$/u.test(value)) ? valuesOf(value) : []
}

/** One header or variable may be the value of a flag. */
const inAssignment = (text: string, isInner = false): string[] => {
  const { name, value } = assigned.exec(text)?.groups ?? {}
  if (name === undefined || value === undefined) return []
  return tellsOfSecret(name) ? valuesOf(value) : isInner ? [] : inAssignment(value, true)
}

const inArgument = (arg: string): string[] => {
  const parts = arg.match(words) ?? []
  // Text for a shell, such as behind `sh -c`.
  return [
    ...inAssignment(arg),
    ...secretsInAddress(arg),
    ...(arg.startsWith('-u') ? inUser(arg) : []),
    ...(parts.length > 1 ? inArguments(parts.map(unquoted)) : []),
  ]
}

/** The same of a command, its arguments and an address: what their own words tell to be secret. */
export const literalsIn = (texts: readonly string[]): string[] => [
  ...inArguments(texts),
  ...texts.flatMap((text) => secretsInAddress(text)),
]

/** Values of an entry that its own names tell to be secret, in every form in which a program may say them. */
export const literalsOf = ({ env, headers, args, url = '' }: ServerEntry): string[] => [
  // A variable or a header may have in it what an argument has: an address, options, text for a shell.
  ...[...Object.entries(env), ...Object.entries(headers)].flatMap(([name, value]) =>
    tellsOfSecret(name) ? valuesOf(value) : inArgument(value),
  ),
  ...inArguments(args),
  ...secretsInAddress(url),
]

/**
 * Guards them as long as they are in the list, and until its next change: a server that is ended may still say them.
 * Gives what ends that.
 */
export const guardLiterals = (list: List<ServerEntry>, guard: Secrets['guard']): (() => void) => {
  const all = (): (() => void)[] => [...list.all().values()].flatMap((entry) => literalsOf(entry).map(guard))
  let before: (() => void)[] = []
  let now = all()
  const letGo = (some: readonly (() => void)[]): void => some.forEach((undo) => undo())
  const unlisten = list.onChange(() => {
    letGo(before)
    before = now
    now = all()
  })
  return () => {
    unlisten()
    letGo(before)
    letGo(now)
  }
}
