/** What is posted (webhooks-5). */
import {
  array,
  defaulted,
  doc,
  having,
  json,
  nullable,
  object,
  optional,
  string,
  type Infer,
  type Struct,
} from '../../../core/plugin.js'
import { mostAddress, ReplyHandle, ReplyTargetRequest } from '../../execution/deliveries/contract.js'
import { InlineAsset, InputItem } from '../../execution/runs/contract.js'

/** A member that is null is as good as absent. */
const maybe = <T, S>(struct: Struct<T, S>, sentence: string) => optional(doc(nullable(struct), sentence))

export const HttpEvent = object({
  session_id: maybe(string({ max: 200 }), 'The session, unless the connector has a fixed one.'),
  binding_keys: maybe(
    array(string({ max: 1000 }), { max: 100 }),
    'Keys that its session is found by, and bound to from then on.',
  ),
  actor_id: maybe(string({ max: 200 }), 'Who sent it, as the sender says.'),
  content: defaulted(doc(nullable(string()), 'What the model is told.'), ''),
  input_items: maybe(array(InputItem, { max: 100 }), 'In place of content and attachments.'),
  attachments: maybe(array(InlineAsset, { max: 100 }), 'Files of the message.'),
  metadata: maybe(json(), 'Kept with the run; what is no object stands in it as `payload`.'),
  reply_targets: maybe(
    array(having('type', ReplyTargetRequest, ReplyHandle), { max: 100 }),
    'Where answers go, where the connector lets messages say so.',
  ),
  reply_plugin: maybe(string({ max: 100 }), 'With reply_address: a target that comes before reply_targets.'),
  reply_address: maybe(string({ max: mostAddress }), 'With reply_plugin.'),
  idempotency_key: maybe(string({ max: 1000 }), 'The same key is the same message: it becomes one run.'),
})
/** Its value form. */
export type HttpEvent = Infer<typeof HttpEvent>
