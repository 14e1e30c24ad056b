"""Whether a claim is true, by an oracle that knows neither certificates nor the code that made them: exact
least-norm points, exact linear programs, and first contacts of turning bodies to 240 bits. With a margin,
distances at times: exact for translations, which come nearest once, to 240 bits for turning bodies.
"""
import math, sys

SAMPLES = 48  # times at which freedom from a margin is looked at, besides the ends

class Oracle:
    def __init__(self, folder):
        sys.path.insert(0, folder)
        import exact, gmpy2, screw
        self.exact, self.screw, self.mpq = exact, screw, gmpy2.mpq

    def contradicts(self, case, p, q, answer):
        """What is false in the answer's claims, or None."""
        problem = self.problem(case, p, q)
        if case["kind"] == "static":
            return self.placed(problem, answer) or self.along(problem, case, answer)
        if case.get("contact_margin") or case.get("deviation"):
            return self.margined(problem, case, p, q, answer)
        find = self.translating if case["kind"] == "linear" or case["angleP"] == 0 == case["angleQ"] else self.turning
        return find(problem, case, p, q, answer)

    def problem(self, case, p, q):
        sides = [([list(map(float, v)) for v in body], self.exact.quat_to_R(case["q" + b]), list(map(float, case["t" + b])))
                 for body, b in ((p, "P"), (q, "Q"))]
        return self.exact.Problem(*sides[0], *sides[1])

    def placed(self, problem, answer):
        found, mpq = problem.gjk(), self.mpq
        truth = "SEPARATED"
        if found["collide"]:
            problem.interior_radius_bounds()
            truth = "OVERLAPPING" if problem.touch_n is None else "TOUCHING"
        if answer["verdict"] != truth:
            return f"it is {truth}"
        unit = mpq(2) ** -problem.E
        squared = mpq(self.exact.dot(found["V"], found["V"])) / mpq(found["D"]) ** 2 * unit ** 2
        if "distance_lower" in answer:
            lower, upper = mpq(answer["distance_lower"]), mpq(answer["distance_upper"])
            if not lower ** 2 <= squared <= upper ** 2:
                return "the distance is not in the bracket"
        if "depth_lower" in answer:
            lower, upper = mpq(answer["depth_lower"]), mpq(answer["depth_upper"])
            depth = truth == "OVERLAPPING" and max(problem.P.n, problem.Q.n) <= 20 and self.depth(problem)
            if depth and not lower ** 2 <= depth[0] * unit ** 2 <= upper ** 2:
                return "the depth is not in the bracket"
            least, most = problem.interior_radius_bounds() if truth == "OVERLAPPING" else (0.0, 0.0)
            if not (lower <= mpq(most) and upper >= mpq(least)):
                return "the depth is not in the bracket, by bounds"
        return None

    def depth(self, problem):
        """Its square, and a direction; None: it is more than the oracle, which looks in f64 first, can tell."""
        try:
            return self.exact.depth_exact(problem)
        except OverflowError:  # a pose that is an ulp from 0 makes its unit 1e-324 metres
            return None

    def along(self, problem, case, answer):
        range_ = answer["certificate"].get("range")
        if range_ is None:
            return None
        first, last = (problem.ray([float(x) for x in case["dir"]["d"]], most) for most in (False, True))
        if first["feasible"] == ("never" in range_):
            return "it meets" if first["feasible"] else "it never meets"
        for name, found in (("enter", first), ("exit", last)) if first["feasible"] else ():
            lower, upper = map(self.mpq, range_.get(name, {"bracket": (0, 0)})["bracket"])
            if not lower <= found["t_real"] <= upper:
                return f"{name} is not in the bracket"
        return None

    def translating(self, problem, case, p, q, answer):
        mpq, first = self.mpq, None
        speed = tuple(mpq(float(a)) - mpq(float(b)) for a, b in zip(case["vP"], case["vQ"]))
        if problem.gjk()["collide"]:
            first = mpq(0)
        elif any(speed):
            hit = problem.ray(speed)
            first = hit["t_real"] if hit["feasible"] else None
        return self.timed(answer, first, first)

    def moving(self, case, p, q):
        return [self.screw.Moving(body, case["q" + b], list(map(float, case["t" + b])), list(map(float, case["v" + b])),
                                  case["axis" + b], case["angle" + b]) for body, b in ((p, "P"), (q, "Q"))]

    def margined(self, problem, case, p, q, answer):
        """Free: farther apart than the margin and the deviation; contact: within the margin."""
        margin, mpq = self.mpq(case["contact_margin"]), self.mpq
        squared, fastest = self.distances(problem, case, p, q)
        free = mpq(1.0 if answer["verdict"] == "NO_CONTACT" else answer["t_free"])
        bare = not answer["certificate"].get("chain")
        if answer["verdict"] == "CONTACT":
            contact = mpq(answer["t_contact"])
            if not any(squared(t) <= margin ** 2 for t in self.times(free, contact, squared)):
                return f"not within the margin by {float(contact)}"
            if contact == 0:
                return None
        elif bare:
            return "nothing is proven free" if free else None
        clear = margin if bare else margin + mpq(case["deviation"])  # the start itself does not deviate
        near = next((t for t in self.approach(free, squared, clear, fastest) if squared(t) <= clear ** 2), None)
        return None if near is None else f"free until {float(free)}, but nearer than that at {float(near)}"

    def distances(self, problem, case, p, q):
        """The squared distance at a time, and a speed that it does not exceed."""
        mpq, exact = self.mpq, self.exact
        def least(placed):
            found = placed.gjk()
            return mpq(exact.dot(found["V"], found["V"])) / mpq(found["D"]) ** 2 * mpq(4) ** -placed.E
        apart = [mpq(float(b)) - mpq(float(a)) for a, b in zip(case["vP"], case["vQ"])]
        if case["kind"] == "linear" or case["angleP"] == 0 == case["angleQ"]:
            def squared(t):
                way = [w * t for w in apart]
                finer = max(int(x.denominator).bit_length() - 1 for x in way)
                e = max(problem.E, finer)
                shift = [int(x * mpq(2) ** e) for x in way]
                points_p, points_q = ([[c << (e - problem.E) for c in x] for x in body.X] for body in (problem.P, problem.Q))
                moved_q = [tuple(a + b for a, b in zip(x, shift)) for x in points_q]
                return least(exact.Problem.from_ints([tuple(x) for x in points_p], e, moved_q, e))
            return squared, math.sqrt(sum(float(w) ** 2 for w in apart))
        moving, bits = self.moving(case, p, q), self.screw.SH
        def squared(t):
            (a, _), (b, _) = (body.at_mp(self.screw.mpfr(t)) for body in moving)
            return least(exact.Problem.from_ints(a, bits, b, bits))
        turns = sum(abs(body.angle) * max(math.dist(y, (0, 0, 0)) for y in body.Yf) for body in moving)
        return squared, math.sqrt(sum(float(w) ** 2 for w in apart)) + turns

    def times(self, least, most, squared):
        """The last first, then between: where bodies that translate come nearest, by halves."""
        yield from (most, least)
        for _ in range(SAMPLES):
            a, b = least + (most - least) / 3, most - (most - least) / 3
            a, b = (self.mpq(float(x)) for x in (a, b))
            yield from (a, b)
            least, most = (least, b) if squared(a) <= squared(b) else (a, most)

    def approach(self, until, squared, clear, fastest):
        """From the start to the end, by no more than is surely free while that is not too little."""
        t = self.mpq(0)
        yield until
        while t < until:
            yield t
            left = math.sqrt(float(squared(t))) - float(clear)
            t += self.mpq(max(left / fastest if fastest else 1.0, float(until) / SAMPLES))

    def turning(self, problem, case, p, q, answer):
        found = self.screw.toi_screw(*self.moving(case, p, q))
        if found["result"] == "initial":
            return self.timed(answer, 0, 0)
        if found["result"] == "miss":
            return self.timed(answer, None, None)
        if found["result"] == "undecided":
            return f"the oracle is undecided: {found['why']}"
        return self.timed(answer, self.mpq(found["t_lb"]), self.mpq(found["t_ub"]))

    def timed(self, answer, least, most):
        """Against a first contact in [least, most], exactly there if they are equal; None: there is none."""
        free = self.mpq(answer.get("t_free", 1.0))
        inside = least is not None and most <= 1
        if inside and answer["verdict"] == "NO_CONTACT":
            return f"there is contact at {float(most)}"
        if answer["verdict"] == "CONTACT":
            contact = self.mpq(answer["t_contact"])
            if least is None or contact < least:
                return "there is no contact by then"
            if contact == 0:
                return None
        if least is not None and (free >= most if least == most else free > most):
            return f"free until {float(free)}, but there is contact at {float(most)}"
        return None
