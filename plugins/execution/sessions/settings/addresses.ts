/**
 * Who sees where outputs go. An address may be all that is needed to write to somebody, and may hold a credential: it
 * is shown to those who may change it, and to nobody else. Every surface asks here.
 */
import { ReplyHandle, ReplyTargetRequest } from '../../deliveries/contract.js'
import {
  doc,
  array,
  having,
  open,
  optional,
  parse,
  string,
  type Caller,
  type Infer,
  type JsonObject,
} from '../../../../core/plugin.js'

/** What stands for an address that is not shown. */
const hidden = 'hidden'

/** Without a caller a view is for anybody: for subscribers of events, and for models. */
const seesAddresses = (caller: Caller | undefined): boolean => caller?.role === 'admin' || caller?.role === 'anonymous'

export const shownHandle = ({ plugin, address }: ReplyHandle, caller?: Caller): ReplyHandle => ({
  plugin,
  address: seesAddresses(caller) ? address : hidden,
})

const Replies = open({
  reply_targets: optional(doc(array(having('type', ReplyTargetRequest, ReplyHandle)), 'Where the outputs go.')),
  reply_address: optional(string()),
})

/** A request that names reply targets, such as what a schedule submits. What cannot be read is left out. */
export const shownReplies = <R extends object>(request: R, caller?: Caller): R => {
  if (seesAddresses(caller) || !('reply_targets' in request || 'reply_address' in request)) return request
  const parsed = parse(Replies, request)
  const { reply_targets, reply_address }: Infer<typeof Replies> = parsed.ok ? parsed.value : {}
  return {
    ...request,
    reply_targets: reply_targets?.map((target) => shownHandle({ plugin: pluginOf(target), address: hidden })),
    ...(reply_address !== undefined && { reply_address: hidden }),
  }
}

const pluginOf = (target: ReplyTargetRequest | ReplyHandle): string =>
  !('type' in target) || target.type === 'raw' ? target.plugin : target.type

/** The same for what another plugin submits, in itself or in a `request` of its own. */
export const shownPayload = (payload: JsonObject, caller?: Caller): JsonObject => {
  const { request } = payload
  const inner = typeof request === 'object' && request !== null && !Array.isArray(request)
  return shownReplies(inner ? { ...payload, request: shownReplies(request, caller) } : payload, caller)
}
