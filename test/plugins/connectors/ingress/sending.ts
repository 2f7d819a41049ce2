/** Events of connectors that no registry knows, for tests of the way in. */
import type { JsonObject } from '../../../../core/base/schema.js'
import { digest } from '../../../../core/base/text/canonical-json.js'
import { definePlugin, type AnyPlugin } from '../../../../core/plugin.js'
import {
  DeliveryProgress,
  FileSources,
  Ingress,
  type ConnectorSettings,
  type Connector,
  type ConnectorKindName,
  type FetchedFile,
  type IngressEvent,
} from '../../../../plugins/connectors/registry/contract.js'
import { Runs } from '../../../../plugins/execution/runs/contract.js'

/** A connector of these settings, which opens sessions unless they say otherwise. */
export const connectorOf = (
  settings: Partial<ConnectorSettings> = {},
  { kind = 'external', name = 'shop' }: { readonly kind?: ConnectorKindName; readonly name?: string } = {},
): Connector => ({
  kind,
  name,
  source: 'daemon',
  settings: {
    allow_unauthenticated_ingress: false,
    ingress_events_per_second: 100,
    session_policy: { create_if_missing: true },
    ...settings,
  },
  has: () => false,
  secret: () => undefined,
})

/** An event that says `content`, of the session `shop-1` unless something else is said. */
export const eventOf = (content: string, more: Partial<IngressEvent> = {}): IngressEvent => ({
  fingerprint: digest(content),
  binding_keys: [],
  natural_session_id: 'shop-1',
  content,
  source_kind: 'shop',
  actor_id: 'somebody',
  facts: {},
  reply_targets: [],
  ...more,
})

export interface Caught {
  readonly plugin: AnyPlugin
  readonly ingress: Ingress
  readonly progress: DeliveryProgress
  readonly runs: Runs
}

/** A plugin that hands out the services of the way in. */
export const createCaught = (): Caught => {
  const caught: { ingress?: Ingress; progress?: DeliveryProgress; runs?: Runs } = {}
  const got = <T>(service: T | undefined): T => {
    if (service === undefined) throw new Error('the daemon has not started')
    return service
  }
  return {
    plugin: definePlugin({
      id: 'catches-ingress',
      version: '1.0.0',
      api: 1,
      summary: 'Hands services of the way in to a test.',
      needs: { ingress: Ingress, progress: DeliveryProgress, runs: Runs },
      register: (_, services) => void Object.assign(caught, services),
    }),
    get ingress() {
      return got(caught.ingress)
    },
    get progress() {
      return got(caught.progress)
    },
    get runs() {
      return got(caught.runs)
    },
  }
}

/** What a refused event was told: status, code and the members of the answer. */
export const toldBy = async (refused: Promise<unknown>): Promise<readonly unknown[]> => {
  try {
    await refused
  } catch (error) {
    const problem = error as { code: string; spec: { status: number }; occurrence: { members?: object } }
    return [problem.spec?.status ?? String(error), problem.code, problem.occurrence?.members ?? {}]
  }
  return ['taken']
}

/** Files of connectors of the kind `external`, which `fetch` gives. */
export const filesOf = (
  fetch: (name: string, file: JsonObject, signal: AbortSignal) => Promise<FetchedFile>,
): AnyPlugin =>
  definePlugin({
    id: 'gives-files',
    version: '1.0.0',
    api: 1,
    summary: 'Stands in for a platform with files.',
    register: (ctx) =>
      void ctx.contribute(FileSources, {
        kind: 'external',
        fetch: ({ name }, file, signal) => fetch(name, file, signal),
      }),
  })
