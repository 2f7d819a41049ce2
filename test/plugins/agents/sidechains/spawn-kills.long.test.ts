/** All of what the short suite takes a sample of. */
import './spawn-kills.test.js'
