/** Waiting for agents, until their work is done (agents-14). */
import type { Events } from '../../../core/plugin.js'
import { SessionStateChanged, type SessionRecord } from '../../execution/sessions/contract.js'
import type { AgentStore } from './store.js'

export interface AgentWaits {
  /** Resolves when one of the sessions (`any`), or all of them, are at rest, or when the signal aborts. */
  settled(sessions: () => readonly SessionRecord[], how: 'any' | 'all', signal: AbortSignal): Promise<void>
  begin(): () => void
}

export const createWaits = (store: AgentStore, events: Events): AgentWaits => {
  const listeners = new Set<() => void>()
  return {
    settled: (sessions, how, signal) =>
      new Promise((resolve) => {
        const look = (): void => {
          const isDone = (session: SessionRecord): boolean => !store.isLive(session)
          const all = sessions()
          if (!signal.aborted && !(how === 'any' ? all.some(isDone) : all.every(isDone))) return
          listeners.delete(look)
          signal.removeEventListener('abort', look)
          resolve()
        }
        listeners.add(look)
        signal.addEventListener('abort', look)
        look()
      }),
    begin: () =>
      events.on(SessionStateChanged, () => {
        for (const look of listeners) look()
      }),
  }
}
