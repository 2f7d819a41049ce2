import test from 'ava'
import { hostileSuite } from './hostile-suite.js'

hostileSuite(test, { strings: 24, jsons: 12, bodies: 6 })
