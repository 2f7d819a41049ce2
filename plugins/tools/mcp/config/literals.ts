/** Values that stand in the list itself: those whose names tell of a secret are known as secrets (mcp-4). */
import {
  secretsInAddress,
  secretsInArgument,
  secretsInArguments,
  valuesNamed,
  type List,
  type Secrets,
} from '../../../../core/plugin.js'
import type { ServerEntry } from './entry.js'

/** The same of a command, its arguments and an address: what their own words tell to be secret. */
export const literalsIn = (texts: readonly string[]): string[] => [
  ...secretsInArguments(texts),
  ...texts.flatMap((text) => secretsInAddress(text)),
]

/** Values of an entry that its own names tell to be secret, in every form in which a program may say them. */
export const literalsOf = ({ env, headers, args, url = '' }: ServerEntry): string[] => [
  // A variable or a header may have in it what an argument has: an address, options, text for a shell.
  ...[...Object.entries(env), ...Object.entries(headers)].flatMap(([name, value]) => [
    ...valuesNamed(name, value),
    ...secretsInArgument(value),
  ]),
  ...secretsInArguments(args),
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
