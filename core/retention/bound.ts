/** That a root holds more than max_bytes, and what somebody can do about it. */
import type { Warning } from '../base/health.js'
import type { Plan } from './plan.js'
import { sayBehindFall, sayInVain, sayOver, sayStaying, type Held } from './words.js'

/** A kind of which something waits, behind a fall of now or an earlier one, and for what. */
interface Waiting {
  readonly kind: string
  readonly held: Held | undefined
}

export const boundWarnings = (planned: Plan, waiting: readonly Waiting[]): readonly Warning[] => {
  if (planned.over === 0) return []
  return [planned.beside === undefined ? exceeded(planned, waiting) : outOfReach(planned.over, planned.beside)]
}

const outOfReach = (over: number, beside: number): Warning => ({
  severity: 'warning',
  code: 'max_bytes_out_of_reach',
  message: sayInVain(over, beside),
  action: 'See what holds the bytes: holdfast status, holdfast assets list. Make max_bytes larger, or delete files.',
})

const look = 'See what stays, and why: holdfast state retention --dry-run'

/** What a record holds before what is only young, and before what waits for its turn. */
const exceeded = ({ over, stays }: Plan, waiting: readonly Waiting[]): Warning => {
  const waits = waiting.flatMap(({ kind, held }) => (held === undefined ? [] : `${sayBehindFall(kind, held)}.`))
  const released = stays.filter(({ release }) => release !== undefined)
  const [first] = [...released, ...(waits.length > 0 ? [] : stays.filter(isForRoom))]
  const why = first === undefined ? waits : [sayStaying({ ...first, release: undefined })]
  return {
    severity: 'warning',
    code: 'max_bytes_exceeded',
    message: [sayOver(over), ...why].join(' '),
    action:
      'Make max_bytes larger in config/retention.toml and restart, or let go of what stays. ' +
      (first?.release ?? look),
  }
}

const isForRoom = ({ cause }: Plan['stays'][number]): boolean => cause === 'bytes'
