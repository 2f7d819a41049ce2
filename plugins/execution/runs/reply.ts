/** Where the outputs of one run go. Contract 1, "SubmitInputRequest" rule 4; reference 1, 1.1. */
import type { Outbox } from '../deliveries/contract.js'
import type { ReplyHandle } from '../sessions/contract.js'
import { runErrors } from './errors.js'
import type { SubmitInputRequest } from './submission.js'

type Find = () => Outbox | undefined

/** The targets that a submission names, the primary one first; undefined if it names none. */
export const replyTargets = (find: Find, input: SubmitInputRequest): readonly ReplyHandle[] | undefined => {
  const { reply_plugin, reply_address, reply_targets: others = [] } = input
  if (reply_plugin === undefined && reply_address === undefined) return others.length === 0 ? undefined : handles(find, others, 'body.reply_targets')
  if (reply_plugin === undefined || reply_address === undefined) throw incomplete(reply_plugin === undefined ? 'reply_plugin' : 'reply_address')
  const primary = handles(find, [{ plugin: reply_plugin, address: reply_address }], 'body.reply_address')
  return distinct(others.length === 0 ? primary : [...primary, ...handles(find, others, 'body.reply_targets')])
}

const incomplete = (missing: string): Error => runErrors.reply_target_incomplete({ errors: [{ path: `body.${missing}`, rule: 'is required' }] })

const handles = (find: Find, targets: NonNullable<SubmitInputRequest['reply_targets']>, path: string): ReplyHandle[] => {
  const outbox = find()
  if (outbox === undefined) throw runErrors.reply_unavailable({ errors: [{ path, rule: 'needs a plugin that delivers outputs' }] })
  return outbox.normalize(targets, path)
}

const distinct = (targets: readonly ReplyHandle[]): ReplyHandle[] =>
  targets.filter(({ plugin, address }, at) => targets.findIndex((other) => other.plugin === plugin && other.address === address) === at)
