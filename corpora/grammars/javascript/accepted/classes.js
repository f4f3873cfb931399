class A extends B.C {
  ;
  a
  b = 1;
  static c = 2
  #d = 3;
  'e' = 4;
  [f] = 5
  constructor(x) { super(x); super.y(); }
  g() { return this.#d }
  static h() { }
  async i() { }
  *j() { }
  async *k() { }
  get l() { return 1 }
  set l(v) { }
  static get m() { return 2 }
  static { this.n = 1; }
  get
  p() { }
  last = 1
}
(class extends { B }.B { });
(class Named extends null { static x });
