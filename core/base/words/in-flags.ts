/** Secrets behind flags, in the arguments of one program. */
import { passwordIn, valuesNamed } from './named-values.js'
import { tellsOfSecret } from './secret-names.js'

const programs = (names: string): RegExp => new RegExp(`(?:^|/)(?:${names})$`, 'u')
const userAndPassword = 'name:password'
/** Programs by the letter behind which they take a password. Where a subcommand does, it is told by that. */
const takers: readonly (readonly [letter: string, RegExp])[] = [
  ['p', programs('(?:mysql|mariadb|mongo)[a-z_-]{0,20}|sshpass|login|cqlsh|cypher-shell')],
  ['a', programs('(?:redis|valkey)-cli')],
  ['P', programs('zip|unzip|sqlcmd|ipmitool|mosquitto_[a-z]{2,4}')],
  ['w', programs('ldap[a-z]{3,20}')],
  [userAndPassword, programs('curl|curlie|wget|https?|httpie|xhs?')],
]

/** Tells of a letter whether a program that takes a password behind it stands in front of an argument. */
const takenBy = (args: readonly string[]): ((letter: string, at: number) => boolean) => {
  const found = takers.map(([letter, taker]) => [letter, args.findIndex((arg) => taker.test(arg))] as const)
  const places = new Map(found.filter(([, at]) => at >= 0))
  return (letter, at) => at > (places.get(letter) ?? Infinity)
}

interface Flag {
  readonly name: string
  readonly value: string
  /** True for `-px` and `--user=name:x`. */
  readonly isAttached: boolean
  readonly isBundled?: boolean
}

const before = /^--?(?<name>[A-Za-z][\w-]*)$/u
const attached = /^(?:-(?<letter>[A-Za-z])|--(?<word>[a-z-]+)=)(?<value>.+)$/su

/** Flags of one letter in a row, as `-su`: the last has the value. */
const bundled = /^-[A-Za-z]{1,4}(?<last>[A-Za-z])$/u

/** The flags whose value an argument may have. */
const flagsOf = (arg: string, previous = ''): readonly Flag[] => {
  const { name } = before.exec(previous)?.groups ?? {}
  const { last } = bundled.exec(previous)?.groups ?? {}
  const { letter, word, value } = attached.exec(arg)?.groups ?? {}
  // A path is no secret; nor is another flag.
  const isNone = name === undefined || /^(?:\.{0,2}\/|--)/u.test(arg)
  return [
    ...(isNone ? [] : [{ name, value: arg, isAttached: false }]),
    ...(isNone || last === undefined ? [] : [{ name: last, value: arg, isAttached: false, isBundled: true }]),
    ...(value === undefined ? [] : [{ name: letter ?? word ?? '', value, isAttached: true }]),
  ]
}

const userFlag = /^(?:[uUa]|user|proxy-user|auth)$/u
/** Words, ports, names of variables and paths. */
const plain = /^(?:\p{L}+(?:[-_.]\p{L}+)*|[\d.:-]+|\$\{?\w+\}?|[\w.@~${}-]*(?:\/[\w.@~${}-]*)+)$/u

/** The password of `-u name:password`. */
const inUser = ({ name, value }: Flag, isTaken: boolean): string[] => {
  const password = userFlag.test(name) ? passwordIn(value) : undefined
  if (password === undefined) return []
  return isTaken || (name.startsWith('u') && !plain.test(password)) ? [password] : []
}

/** What is behind a flag of its own is a port if it is a number. */
const inTaken = ({ value, isAttached }: Flag): string[] => (isAttached || !/^\d+$/u.test(value) ? [value] : [])

/** Of a program that is not among its arguments nobody knows what it takes behind `-p`. */
const inUnnamed = ({ name, value, isAttached, isBundled }: Flag): string[] =>
  name === 'p' && !isAttached && isBundled !== true && !plain.test(value) ? [value] : []

/** Where `set NAME x` begins, as in `npm config set`. */
const setAt = (args: readonly string[]): number => {
  const at = args.findIndex((arg) => /^set(?:env)?$/u.test(arg))
  return at < 0 ? Infinity : at
}
/** `//host/:_authToken x` is named by its end. */
const inSetting = (name: string, value: string): string[] =>
  name.startsWith('-') || value.startsWith('-') ? [] : valuesNamed(name.replace(/^.*[:/]/su, ''), value)

/** True for a program that is told to read a secret: `--password-stdin`, `--with-token`, `read TOKEN`. */
export const isToldSecret = (args: readonly string[]): boolean =>
  args.some((arg) => {
    const { name = '' } = /^--(?:with-(?=[\w-]+$))?(?<name>[\w-]+?)(?:-(?:stdin|fd))?$/u.exec(arg)?.groups ?? {}
    return name.length + 2 < arg.length && tellsOfSecret(name)
  }) ||
  (args[0] === 'read' && args.slice(1).some(tellsOfSecret))

/** Values of flags that are told to be secret, by the name of the flag or by the program that takes it. */
export const secretsInFlags = (args: readonly string[], isUnnamed: boolean): string[] => {
  const isTaken = takenBy(args)
  const begin = setAt(args) + 1
  return args.flatMap((arg, at) => [
    ...(at > begin ? inSetting(args[at - 1] ?? '', arg) : []),
    ...flagsOf(arg, args[at - 1]).flatMap((flag) => [
      ...inUser(flag, isTaken(userAndPassword, at)),
      ...(isTaken(flag.name, at) ? inTaken(flag) : []),
      ...(isUnnamed ? inUnnamed(flag) : []),
      ...valuesNamed(flag.name, flag.value),
    ]),
  ])
}
