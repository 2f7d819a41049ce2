/** Looks at the sidecars that others run, once a minute: a silent one is known before an answer is for it. */
import { Problem, type Clock, type Log } from '../../../../core/plugin.js'
import type { AccessParts } from '../setup/access.js'
import { hearHealth } from './health.js'
import type { SidecarClient } from './client.js'
import type { ExternalConnector } from '../setup/connector.js'
import type { Connectors } from '../../registry/contract.js'

export interface WatchParts extends Pick<AccessParts, 'kind'> {
  readonly connectors: Connectors
  readonly client: Pick<SidecarClient, 'health'>
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

export const lookMs = 60_000

/** Asks all of them. Resolves when each has answered or was waited for in vain. */
export const lookAtAll = async ({ kind, connectors, client, log, signal }: WatchParts): Promise<void> => {
  const look = async (connector: ExternalConnector): Promise<void> => {
    try {
      const asked = await client.health(connector, signal)
      if (!signal.aborted) hearHealth(connectors, connector, asked)
    } catch (error) {
      if (!(error instanceof Problem))
        log.error('a sidecar could not be looked at', { connector: connector.name, error })
    }
  }
  await Promise.all(
    connectors
      .all(kind)
      .filter(({ settings }) => settings.mode === 'remote_http')
      .map(look),
  )
}

/** From now on, until the plugin ends. */
export const watchSidecars = (parts: WatchParts): void => {
  const look = (): Promise<void> => {
    parts.clock.after(lookMs, look)
    return lookAtAll(parts)
  }
  parts.clock.after(lookMs, look)
}
