/** A daemon with `answers-as-told` of `test/broken-plugins`: a plugin of others that does what a test says. */
import type { ExecutionContext } from 'ava'
import type { Collection } from '../../core/plugin.js'
import { rootWith } from './broken-plugins.js'
import { startTestDaemon, type TestDaemon } from './daemon.js'

export const asTold = 'answers-as-told'

export type Said = Readonly<Record<string, (...given: never[]) => unknown>>
/** What it does, by what it is asked: it runs in this process. */
export const say = (said: Said): void => void Reflect.set(globalThis, 'answersAsTold', said)

/** What it has written down in commits of others. */
export const notesAsTold = (): Collection<{ note: string }> => Reflect.get(globalThis, 'notesAsTold')

export const startAsTold = async (
  t: ExecutionContext,
  options: Omit<Parameters<typeof startTestDaemon>[1], 'root'> = {},
): Promise<TestDaemon> => {
  t.teardown(() => say({}))
  return startTestDaemon(t, { ...options, root: await rootWith(asTold) })
}

/** Whose faults there are, and the last one of the plugin. */
export const faultsOf = ({ daemon }: TestDaemon) => {
  const faulty = daemon.view.plugins().filter(({ fault_count: count }) => count > 0)
  return { ids: faulty.map(({ id }) => id), last: faulty.find(({ id }) => id === asTold)?.last_fault }
}

/** Where a fault was, without the key of the contribution that stands behind its point. */
export const withoutKey = (where = ''): string => where.replace(/(?<=@\d) \S+$/u, '')

/** It alone is charged, last with this. */
export const charged = (t: ExecutionContext, daemon: TestDaemon, where: string, what?: string): void => {
  t.is(withoutKey(faultsOf(daemon).last?.where), where, what)
  t.deepEqual(faultsOf(daemon).ids, [asTold], what)
}

const cycle = (): object => {
  const one: Record<string, unknown> = {}
  one['one'] = one
  return one
}
export const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

/** What JSON cannot say, or only in part, or what is too much of it. */
export const poisons: Readonly<Record<string, () => unknown>> = {
  bigint: () => ({ n: 10n }),
  cycle,
  deep: () => deep(200),
  toJSON: () => ({
    toJSON() {
      throw null
    },
  }),
  getter: () => ({
    get a() {
      throw null
    },
  }),
  long: () => 'z'.repeat(2_000_000),
  promise: async () => 'x',
}
