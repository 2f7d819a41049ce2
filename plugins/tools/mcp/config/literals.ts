/** Values that stand in the list itself: those whose names tell of a secret are known as secrets. */
import { tellsOfSecret, type List, type Secrets } from '../../../../core/plugin.js'
import type { ServerEntry } from './entry.js'

/** Behind the name of a scheme, such as `Bearer`, stands the secret itself. */
const schemed = /^[A-Za-z][\w-]* +(?<rest>\S.*)$/su

const literalsOf = ({ env, headers }: ServerEntry): string[] =>
  [...Object.entries(env), ...Object.entries(headers)]
    .filter(([name]) => tellsOfSecret(name))
    .flatMap(([, value]) => [value, schemed.exec(value)?.groups?.['rest'] ?? value])

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
