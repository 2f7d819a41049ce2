/** Secrets in arguments of programs and in text for a shell: what their own words tell to be secret. */
import { secretsInAddress } from './in-address.js'
import { tellsOfSecret } from './secret-names.js'

/** Behind the name of a scheme, such as `Bearer`, stands the secret itself. */
const schemed = /^[A-Za-z][\w-]* +(?<rest>\S.*)$/su

/** A value, and what stands in it behind the name of a scheme. */
export const schemedValues = (value: string): string[] => [value, schemed.exec(value)?.groups?.['rest'] ?? value]

/** `--token=x`, `API_KEY=x` and `Authorization: Bearer x`. */
const assigned = /^-{0,2}(?<name>[A-Za-z_][\w.-]*)(?:=|: *)(?<value>.+)$/su
/** A flag whose value is the next argument. */
const flag = /^--?(?<name>[A-Za-z][\w-]*)$/u
/** In text for a shell, values may be quoted. */
const words = /(?:"[^"]*"|'[^']*'|[^\s"'])+/gu
const unquoted = (word: string): string => word.replaceAll(/["']/gu, '')

export const secretsInArguments = (args: readonly string[]): string[] =>
  args.flatMap((arg, at) => [...secretsInArgument(arg), ...inFlag(args[at - 1], arg)])

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
  return tellsOfSecret(name) || (name === 'p' && !/^\d+$/u.test(value)) ? schemedValues(value) : []
}

/** One header or variable may be the value of a flag. */
const inAssignment = (text: string, isInner = false): string[] => {
  const { name, value } = assigned.exec(text)?.groups ?? {}
  if (name === undefined || value === undefined) return []
  return tellsOfSecret(name) ? schemedValues(value) : isInner ? [] : inAssignment(value, true)
}

/** In one argument, which may be text for a shell. */
export const secretsInArgument = (arg: string): string[] => {
  const parts = arg.match(words) ?? []
  // Text for a shell, such as behind `sh -c`.
  return [
    ...inAssignment(arg),
    ...secretsInAddress(arg),
    ...(arg.startsWith('-u') ? inUser(arg) : []),
    ...(parts.length > 1 ? secretsInArguments(parts.map(unquoted)) : []),
  ]
}
