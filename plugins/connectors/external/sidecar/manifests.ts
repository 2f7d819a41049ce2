/** What sidecars say that they can, for five minutes (external-30). */
import type { Clock } from '../../../../core/plugin.js'
import type { Asked, SidecarClient } from './client.js'
import type { ExternalConnector } from '../setup/connector.js'
import type { Manifest } from './protocol.js'

/** Milliseconds that a manifest is believed. */
const freshMs = 300_000

export interface Manifests {
  /** As it was at most five minutes ago; undefined if nobody asked. */
  known(connector: ExternalConnector): Manifest | undefined
  /** As it was at most five minutes ago, or is now. */
  find(connector: ExternalConnector): Promise<Asked<Manifest>>
  /** As it is now. */
  fetch(connector: ExternalConnector): Promise<Asked<Manifest>>
  /** The next one who asks gets it as it is then: its process has ended, or its connector is gone. */
  forget(name: string): void
}

export interface ManifestParts {
  readonly client: Pick<SidecarClient, 'manifest'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Told of each that could not be had. */
  readonly failed: (connector: ExternalConnector) => void
}

interface Known {
  readonly base_url: string
  readonly at: number
  readonly manifest: Manifest
}

export const createManifests = ({ client, clock, signal, failed }: ManifestParts): Manifests => {
  const known = new Map<string, Known>()
  /** One request at a time for each place: many deliveries ask at once. */
  const flights = new Map<string, Promise<Asked<Manifest>>>()
  /** What began before something was forgotten is not kept. */
  let age = 0
  const ask = async (connector: ExternalConnector): Promise<Asked<Manifest>> => {
    const { name, settings } = connector
    const begun = age
    const asked = await client.manifest(connector, signal)
    if (asked.type === 'failure') failed(connector)
    else if (age === begun) known.set(name, { base_url: settings.base_url, at: clock.elapsed(), manifest: asked.value })
    return asked
  }
  const askOnce = (connector: ExternalConnector): Promise<Asked<Manifest>> => {
    const key = JSON.stringify([connector.name, connector.settings.base_url, age])
    const flight = flights.get(key) ?? ask(connector).finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }
  const fresh = ({ name, settings }: ExternalConnector): Manifest | undefined => {
    const found = known.get(name)
    return found?.base_url === settings.base_url && clock.elapsed() - found.at < freshMs ? found.manifest : undefined
  }
  return {
    known: fresh,
    fetch: askOnce,
    find(connector) {
      const value = fresh(connector)
      return value === undefined ? askOnce(connector) : Promise.resolve({ type: 'answer', value })
    },
    forget(name) {
      known.delete(name)
      age += 1
    },
  }
}
