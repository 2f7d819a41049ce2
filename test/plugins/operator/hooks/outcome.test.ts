import test from 'ava'
import { blockOf, rulingOf, shownRuling } from '../../../../plugins/operator/hooks/outcome.js'
import { across, holdsPiece, redactCanary } from '../../../support/canaries.js'

test('secrets-25: a secret across the end of a reason is redacted', (t) => {
  for (const reason of across(4_000)) {
    const answered = rulingOf('guard', { decision: 'block', reason })
    const ruling = 'fault' in answered ? undefined : answered.ruling
    for (const one of [blockOf('guard', reason), ruling ?? { by: [] }]) {
      const { block = '', reason: why = '' } = shownRuling(one, redactCanary)
      t.is(block.length, 4_000)
      t.false(holdsPiece(block + why))
    }
  }
})
