/** What a flow is against a second model of it, in Python, which was written from the contract alone. */
import test from 'ava'
import { judgedBy } from '../../../support/judges.js'
import { compare } from './second-model.js'

const judged = judgedBy(test, 'python3-hypothesis')

judged('flows-8: every small flow is what a second model says that it is', (t) => {
  t.is(compare(t, 'small').size, 8)
})

judged('flows-10: larger flows, their phases and their contract are what a second model says', (t) => {
  t.true(compare(t, 'drawn', '1', '120').size >= 6)
})
