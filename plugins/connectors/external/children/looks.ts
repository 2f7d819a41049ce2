/** What the program of a connector says of itself now. */
import { toldLine } from '../../../../core/plugin.js'
import type { ChildParts } from './child-parts.js'
import type { Asked } from '../sidecar/client.js'
import type { ExternalConnector } from '../setup/connector.js'
import type { Looks, Seen } from './readiness.js'

export interface LooksParts extends Pick<ChildParts, 'client' | 'counts'> {
  readonly redact: (text: string) => string
}

/** Signs of what a program says of its health. */
const mostDetail = 200

const causes: Readonly<Record<string, string>> = {
  outbound_connection_failed: 'cannot be asked: nothing listens at base_url',
  outbound_timed_out: 'was not answered within 3 s',
  outbound_connection_broken: 'was not answered: the connection broke',
  outbound_answer_too_large: 'was answered with more than 64 KiB',
  sidecar_answer_invalid: 'was answered with something else',
  sidecar_version_unsupported: 'is of another protocol_version than 1',
}

const unseen = (code: string): Seen<never> => ({
  type: 'unseen',
  cause: causes[code] ?? `cannot be had (${code})`,
  final: code === 'sidecar_version_unsupported',
})

const gone: Seen<never> = { type: 'unseen', cause: 'is not asked for: the connector is gone' }

export const looksOf = (
  { client, counts, redact }: LooksParts,
  name: string,
  find: () => ExternalConnector | undefined,
): Looks => {
  const ask = async <T>(of: (connector: ExternalConnector) => Promise<Asked<T>>): Promise<Seen<T>> => {
    const connector = find()
    if (connector === undefined) return gone
    try {
      const asked = await of(connector)
      return asked.type === 'answer' ? { type: 'seen', value: asked.value } : unseen(asked.code)
    } catch {
      return { type: 'unseen', cause: 'is not asked for: the shared token cannot be read' }
    }
  }
  const shown = (text: string): string => toldLine(text, mostDetail, redact)
  return {
    manifest: (signal) =>
      ask(async (connector) => {
        const asked = await client.manifest(connector, signal)
        // One that is starting does not listen yet: that is no failure of its manifest.
        if (asked.type === 'failure' && asked.code.startsWith('sidecar_')) counts.add(name, 'manifest_failure')
        return asked
      }),
    async health(signal) {
      const seen = await ask((connector) => client.health(connector, signal))
      if (seen.type === 'unseen') return seen
      const { instance_id, status, detail } = seen.value
      return { type: 'seen', value: { instance_id, status, detail: detail && shown(detail) } }
    },
  }
}
