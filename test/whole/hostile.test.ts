import test from 'ava'
import { hostileSuite } from './hostile-suite.js'

hostileSuite(test, { strings: 288, jsons: 144, bodies: 72, others: 4 })
