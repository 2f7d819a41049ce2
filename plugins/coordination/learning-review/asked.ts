/** Whether a run was asked for by whoever may teach: people and callers, not agents and what the daemon words. Pure. */
import type { TerminalRun } from '../../execution/runs/contract.js'

const kinds: ReadonlySet<string> = new Set<TerminalRun['kind']>(['input', 'scheduled_input'])
/** All that an origin may say: any other member names what made the run in place of a caller. */
const origins: ReadonlySet<string> = new Set<keyof NonNullable<TerminalRun['origin']>>(['ingress', 'service_flow'])
/** Plugins that word their runs themselves and leave no origin. */
const wordings: ReadonlySet<string> = new Set(['goals'])

export const isAsked = ({ kind, origin = {}, source_plugin }: Pick<TerminalRun, 'kind' | 'origin' | 'source_plugin'>) =>
  kinds.has(kind) && Object.keys(origin).every((member) => origins.has(member)) && !wordings.has(source_plugin)
