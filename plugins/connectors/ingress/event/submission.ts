/** An event as the submission of its run. */
import { digest } from '../../../../core/plugin.js'
import type { Submission } from '../../../execution/runs/contract.js'
import type { Connector, IngressEvent } from '../../registry/contract.js'
import { receiptOf } from './known.js'

/** What names the event in the metadata of its run: nobody learns the key of the platform from it. */
const shownKey = ({ kind, name }: Connector, key: string): string => `${kind}:${name}:${digest(key).slice(0, 32)}`

export const submissionOf = (connector: Connector, event: IngressEvent, session_id: string): Submission => {
  const { content, input_items, attachments, source_kind, actor_id, metadata, binding_keys, reply_targets } = event
  const receipt = receiptOf(event)
  const ingress = {
    ...(event.key !== undefined && { connector_ingress_key: shownKey(connector, event.key) }),
    ...event.facts,
  }
  return {
    session_id,
    input: {
      content,
      source_plugin: connector.kind,
      source_kind,
      actor_id,
      ...(input_items !== undefined && { input_items: [...input_items] }),
      ...(attachments !== undefined && { attachments: [...attachments] }),
      ...(metadata !== undefined && { metadata }),
      ...(binding_keys.length > 0 && { binding_keys: [...binding_keys] }),
      ...(reply_targets.length > 0 && { reply_targets: [...reply_targets] }),
    },
    ...(Object.keys(ingress).length > 0 && { origin: { ingress } }),
    ...(receipt !== undefined && { receipt }),
  }
}
