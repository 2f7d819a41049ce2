/** Hooks that look at something of a run (explanations-6). */
import { commandLine, type Clock } from '../../../core/plugin.js'
import type { Invocation } from '../../execution/interception/contract.js'
import type { Reason, ReasonSource } from '../explanations/contract.js'

interface Asked {
  readonly run_id: string
  readonly reason: Reason
}

export interface HooksAtWork {
  /** Has it be known that a hook is asked until the work is over. */
  during<T>(name: string, invocation: Invocation, work: () => Promise<T>): Promise<T>
  readonly reasons: ReasonSource
}

export const createHooksAtWork = (clock: Clock): HooksAtWork => {
  const asked = new Set<Asked>()
  return {
    async during(name, { run_id, event }, work) {
      if (run_id === undefined) return work()
      const reason = {
        code: 'hook',
        text: `The hook ${name} looks at it (${event}).`,
        since_ms: clock.now(),
        commands: [commandLine('runs cancel', run_id)],
      }
      const one = { run_id, reason }
      asked.add(one)
      try {
        return await work()
      } finally {
        asked.delete(one)
      }
    },
    reasons: {
      id: 'hooks',
      of: ({ kind, id }) =>
        kind === 'run' ? [...asked].filter(({ run_id }) => run_id === id).map(({ reason }) => reason) : [],
    },
  }
}
