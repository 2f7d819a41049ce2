/** Sessions that take no further run, as where a server that they must have is missing. */
import type { AnyPlugin } from '../../core/plugin.js'
import { ToolArrivals } from '../../plugins/execution/tools/contract.js'
import { testPlugin } from './plugins.js'

export interface Refusing {
  readonly plugin: AnyPlugin
  /** From now on it takes none; the one that works goes on until it asks its model again. */
  refuse(session_id: string): void
  allow(session_id: string): void
}

export const refusing = (): Refusing => {
  const sessions = new Set<string>()
  const missing = (session_id: string): string | undefined =>
    sessions.has(session_id) ? 'the session must have a server, which is not here' : undefined
  return {
    plugin: testPlugin('refusing', {
      register: (ctx) => ctx.contribute(ToolArrivals, { id: 'refusing', awaited: () => undefined, missing }),
    }),
    refuse: (session_id) => void sessions.add(session_id),
    allow: (session_id) => void sessions.delete(session_id),
  }
}
