/** What providers may say of their models. Who connects looks at the connection, and at what that one answers. */
import { answerOf, asItIs, integer, open, optional, yesOrNo } from '../../../../core/plugin.js'

export const providerAnswers = {
  connect: asItIs,
  searches: yesOrNo(true),
  context_window: answerOf(open({ tokens: integer({ min: 1 }), answer: optional(integer({ min: 1 })) }), undefined),
  family: { has: yesOrNo(true) },
  local_servers: {},
} as const
