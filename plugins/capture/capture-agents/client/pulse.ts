/** Tells the daemon that the agent lives, and which of its sources see something. */
import { callDaemon, agentVersion, type CallParts } from './calls.js'
import { sentence, type Lasting } from '../../../../core/plugin.js'
import type { Telling } from './telling.js'

export interface PulseParts extends CallParts {
  readonly tools: Lasting
  readonly telling: Telling
  /** Ids of the sources that see something now. */
  readonly observed: () => readonly string[]
}

/** Shortest time between two, whatever the file says. */
const leastMs = 100

/** Goes on until the signal aborts. Rejects with what only a person can help with. */
export const runPulse = async (parts: PulseParts): Promise<void> => {
  const { file, tools, telling, observed, signal } = parts
  const { heartbeat_url, heartbeat_token, heartbeat_interval_ms, machine_id } = file.capture_agent
  let isKnown = false
  while (!signal.aborted) {
    const called = await callDaemon(parts, {
      url: heartbeat_url,
      token: heartbeat_token,
      tokenName: 'heartbeat token',
      body: { observed_source_ids: [...observed()], agent_version: agentVersion },
    })
    if (signal.aborted) return
    const isWell = called.type === 'done'
    telling.state('heartbeats', isWell ? undefined : sentence(called.reason))
    if (isWell && !isKnown) telling.say('connected', `${machine_id} is known to the daemon at ${file.daemon.base_url}.`)
    isKnown ||= isWell
    const after_ms = called.type === 'retry' ? called.after_ms : 0
    await tools.clock.sleep(Math.max(leastMs, heartbeat_interval_ms, after_ms), signal)
  }
}
