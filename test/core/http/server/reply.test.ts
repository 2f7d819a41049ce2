import test from 'ava'
import { defineErrors } from '../../../../core/base/errors.js'
import { problemAnswer } from '../../../../core/http/server/reply.js'
import { across, holdsPiece, redactCanary } from '../../../support/canaries.js'

const errors = defineErrors({ it_failed: { status: 500, detail: 'It failed: {reason}.' } })

test('secrets-25: a secret across the end of a detail of a problem is redacted', (t) => {
  for (const reason of across(200)) {
    const { body } = problemAnswer(errors.it_failed({ details: { reason } }), redactCanary)
    t.regex(String(body), /"detail":"It failed: /u)
    t.false(holdsPiece(String(body)))
  }
})
