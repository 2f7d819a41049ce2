/** What runs of a session must have and have not, and which plugin says so (mcp-19). */
import { sentence, type Clock, type HealthCheck, type Warning } from '../../../core/plugin.js'
import type { ToolArrival } from './visibility.js'

export interface MissingParts {
  readonly arrivals: () => readonly ToolArrival[]
  readonly clock: Clock
  /** The plugin that an arrival is of. */
  readonly pluginOf: (arrival_id: string) => string | undefined
}

export interface Missing {
  /** A sentence without its full stop; undefined if nothing is missing. */
  of(session_id: string): string | undefined
  /** Sessions that were refused lately, one for each that brings tools. */
  readonly health: HealthCheck
}

interface Refusal {
  readonly session_id: string
  readonly at_ms: number
}

/** How long a session that was refused is told of in the status: it may have ended since. */
const toldMs = 3_600_000
/** Characters of what is missing. */
const mostText = 500

export const createMissing = ({ arrivals, clock, pluginOf }: MissingParts): Missing => {
  const refused = new Map<string, Refusal>()
  const ask = (arrival: ToolArrival, session_id: string): string | undefined => {
    const what = arrival.missing(session_id)
    if (what === undefined) return undefined
    const plugin = pluginOf(arrival.id)
    return plugin === undefined ? what : `tools of the plugin ${plugin} are missing: ${what.slice(0, mostText)}`
  }
  const warningOf = (arrival: ToolArrival): Warning[] => {
    const last = refused.get(arrival.id)
    const isRecent = last !== undefined && clock.now() - last.at_ms < toldMs
    const what = isRecent ? ask(arrival, last.session_id) : undefined
    if (last === undefined || what === undefined) {
      refused.delete(arrival.id)
      return []
    }
    return [
      {
        severity: 'warning',
        code: 'required_tools_missing',
        message: sentence(`Session ${last.session_id} takes no run: ${what}`),
        related_id: last.session_id,
        action: 'Mend what the sentence names; how its plugin is: holdfast plugins list',
      },
    ]
  }
  return {
    of(session_id) {
      for (const arrival of arrivals()) {
        const what = ask(arrival, session_id)
        if (what === undefined) continue
        refused.set(arrival.id, { session_id, at_ms: clock.now() })
        return what
      }
      return undefined
    },
    health: { id: 'required-tools', check: () => arrivals().flatMap(warningOf) },
  }
}
