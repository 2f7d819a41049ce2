import test from 'ava'
import { hostileSuite } from './hostile-suite.js'

hostileSuite(test, { strings: 3, jsons: 1, bodies: 1, others: 1 })
