/** Where the outputs of one run go (runs-10 and runs-11). */
import { Problem } from '../../../../core/plugin.js'
import { deliveryErrors, type KeepTarget, type Outbox, type ReplyHandle } from '../../deliveries/contract.js'
import { runErrors } from '../record/errors.js'
import type { SubmitInputRequest } from './input.js'

type Find = () => Outbox | undefined

/** The targets that a submission names, the primary one first; undefined if it names none. */
export const replyTargets = (find: Find, input: SubmitInputRequest): readonly ReplyHandle[] | undefined => {
  const { reply_plugin, reply_address, reply_targets: others = [] } = input
  if (reply_plugin === undefined && reply_address === undefined)
    return others.length === 0 ? undefined : handles(find, others, 'body.reply_targets')
  if (reply_plugin === undefined || reply_address === undefined)
    throw incomplete(reply_plugin === undefined ? 'reply_plugin' : 'reply_address')
  const primary = primaryOf(find, { plugin: reply_plugin, address: reply_address })
  return distinct(others.length === 0 ? primary : [...primary, ...handles(find, others, 'body.reply_targets')])
}

/** The pair is a list of one for the outbox, and two fields for the client. */
const primaryOf = (find: Find, target: ReplyHandle): ReplyHandle[] => {
  try {
    return handles(find, [target], 'body.reply_targets')
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== deliveryErrors.reply_target_invalid.code) throw error
    const { errors = [] } = error.occurrence
    throw deliveryErrors.reply_target_invalid({
      errors: errors.map(({ path, rule }) => ({
        path: path.endsWith('.plugin') ? 'body.reply_plugin' : 'body.reply_address',
        rule,
      })),
    })
  }
}

const incomplete = (missing: string): Error =>
  runErrors.reply_target_incomplete({ errors: [{ path: `body.${missing}`, rule: 'is required' }] })

const handles = (
  find: Find,
  targets: NonNullable<SubmitInputRequest['reply_targets']>,
  path: string,
): ReplyHandle[] => {
  const outbox = find()
  if (outbox === undefined)
    throw runErrors.reply_unavailable({ errors: [{ path, rule: 'needs a plugin that delivers outputs' }] })
  return outbox.normalize(targets, path)
}

const distinct = (targets: readonly ReplyHandle[]): ReplyHandle[] =>
  targets.filter(
    ({ plugin, address }, at) =>
      targets.findIndex((other) => other.plugin === plugin && other.address === address) === at,
  )

/** An input as it may be stored: the same if its targets hold no secrets in clear. Throws `secrets_key_unusable`. */
export const keptInput = (keep: KeepTarget, input: SubmitInputRequest): SubmitInputRequest => {
  const { reply_plugin, reply_address, reply_targets } = input
  const targets = reply_targets?.map((target) => keep(target))
  const changed = targets !== undefined && targets.some((target, at) => target !== reply_targets?.[at])
  const before = changed ? { ...input, reply_targets: targets } : input
  if (reply_plugin === undefined || reply_address === undefined) return before
  const { address } = keep({ plugin: reply_plugin, address: reply_address })
  return address === reply_address ? before : { ...before, reply_address: address }
}
