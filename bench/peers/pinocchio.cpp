// Pinocchio: one articulated-body recursion a step, in which joint springs and dampers are implicit as armature
// dt c + dt² k (they then need no second solve), and the speed before the step meets the spring as it will be:
//
//     (M + dt c + dt² k) a = τ(q, v) − k (q + dt v) − c v,    v ← v + dt a,    q ← q + dt v
//
// The load is turned into the tip's axes with the pose of the step before. Recursion in the convention that also gives
// every link's pose in the world, and is the faster one. Trees only: its other algorithms close loops. Reads the numbers that scene.py writes;
// lines on stdin as in peers/python/peer.py.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/multibody.hpp>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <vector>

namespace pin = pinocchio;
using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;

static const double dt = 1.0 / 60.0;

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

static pin::SE3 read_pose(std::istream &in) {
  double w, x, y, z;
  Vector3d p;
  in >> w >> x >> y >> z >> p[0] >> p[1] >> p[2];
  return pin::SE3(Quaterniond(w, x, y, z).normalized().toRotationMatrix(), p);
}

struct Race {
  pin::Model model;
  std::unique_ptr<pin::Data> data;
  VectorXd k, c, q, v, tau;
  std::vector<pin::JointIndex> joints;
  pin::JointIndex tip;
  pin::SE3 tip_link;
  Vector3d force, home;
  std::vector<pin::Force, Eigen::aligned_allocator<pin::Force>> loads;

  explicit Race(const char *path) {
    std::ifstream in(path);
    Vector3d gravity;
    for (int i = 0; i < 3; ++i) in >> gravity[i];
    for (int i = 0; i < 3; ++i) in >> force[i];
    int count, tip_at;
    in >> count >> tip_at;
    model.gravity.linear(gravity);
    std::vector<double> stiffness, damping;
    std::vector<pin::SE3> links;
    for (int n = 0; n < count; ++n) {
      int parent;
      in >> parent;
      const pin::SE3 placement = read_pose(in), link = read_pose(in);
      double mass, kn, cn;
      Vector3d com;
      Matrix3d inertia;
      in >> mass >> com[0] >> com[1] >> com[2];
      for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) in >> inertia(r, s);
      in >> kn >> cn;
      const pin::JointIndex above = parent < 0 ? 0 : joints[static_cast<size_t>(parent)];
      const pin::JointIndex id = model.addJoint(above, pin::JointModelRZ(), placement, "j" + std::to_string(n));
      model.appendBodyToJoint(id, pin::Inertia(mass, com, inertia), link);
      joints.push_back(id);
      links.push_back(link);
      stiffness.push_back(kn);
      damping.push_back(cn);
    }
    if (!in) throw std::runtime_error("the file of numbers ends too early");
    k.setZero(model.nv), c.setZero(model.nv);
    for (int n = 0; n < count; ++n) {
      const int at = model.joints[joints[static_cast<size_t>(n)]].idx_v();
      k[at] = stiffness[static_cast<size_t>(n)], c[at] = damping[static_cast<size_t>(n)];
    }
    model.armature = dt * c + dt * dt * k;
    tip = joints[static_cast<size_t>(tip_at)], tip_link = links[static_cast<size_t>(tip_at)];
    data = std::make_unique<pin::Data>(model);
    q = pin::neutral(model), v = VectorXd::Zero(model.nv), tau = v;
    loads.assign(static_cast<size_t>(model.njoints), pin::Force::Zero());
    recursion(true);
    home = position();
  }

  void recursion(bool loaded) {
    if (loaded)
      pin::aba(model, *data, q, v, tau, loads, pin::Convention::WORLD);
    else
      pin::aba(model, *data, q, v, tau, pin::Convention::WORLD);
  }

  Vector3d position() const { return (data->oMi[tip] * tip_link).translation(); }

  void step() {
    const Vector3d f = data->oMi[tip].rotation().transpose() * force;
    loads[tip].linear() = f;
    loads[tip].angular() = tip_link.translation().cross(f);
    tau = -k.cwiseProduct(q + dt * v) - c.cwiseProduct(v);
    recursion(true);
    v += dt * data->ddq;
    q += dt * v;
  }
};

static void tell(const Vector3d &x) {
  if (x.allFinite())
    std::printf("\"displacement\": [%.17g, %.17g, %.17g]", x[0], x[1], x[2]);
  else
    std::printf("\"displacement\": [null, null, null]");
}

// At rest: over the second half of all steps the tip stays within this part of its displacement.
static const double stays = 1e-3;

static void rest(Race &race, double seconds) {
  const double end = now() + 1e6 * seconds;
  long count = 0, check = 256;
  double last = 0.0, spread = 0.0;
  Vector3d anchor = race.position() - race.home;
  bool settled = false;
  while (now() < end) {
    race.step();
    ++count;
    const Vector3d at = race.position() - race.home;
    if (!at.allFinite()) break;
    double speed = race.v.squaredNorm();
    if (speed < last) race.v.setZero(), speed = 0.0;
    last = speed;
    spread = std::max(spread, (at - anchor).norm());
    if (count == check) {
      if (spread <= stays * at.norm()) {
        settled = true;
        break;
      }
      anchor = at, spread = 0.0, check *= 2;
    }
  }
  std::printf("{\"settled\": %s, \"steps\": %ld, ", settled ? "true" : "false", count);
  tell(race.position() - race.home);
  std::printf("}\n");
}

int main(int argc, char **argv) {
  const double start = now();
  std::unique_ptr<Race> race;
  const bool forward = argc > 2 && std::string(argv[2]) == "forward";
  try {
    race = std::make_unique<Race>(argv[1]);
  } catch (const std::bad_alloc &) {
    std::printf("{\"error\": \"out of memory\"}\n");
    return 0;
  } catch (const std::exception &why) {
    std::printf("{\"error\": \"%s\"}\n", why.what());
    return 0;
  }
  std::printf("{\"ready\": true, \"build_seconds\": %g}\n", 1e-6 * (now() - start));
  std::fflush(stdout);
  const auto step = [&] { forward ? race->recursion(false) : race->step(); };
  std::string line, word;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    words >> word;
    if (word == "block") {
      long batches = 1, size = 1;
      words >> batches >> size;
      for (long i = 0; i < size; ++i) step();
      std::vector<double> times;
      for (long b = 0; b < batches; ++b) {
        const double from = now();
        for (long i = 0; i < size; ++i) step();
        times.push_back((now() - from) / static_cast<double>(size));
      }
      std::printf("{\"us\": [");
      for (size_t b = 0; b < times.size(); ++b) std::printf("%s%.6g", b ? ", " : "", times[b]);
      std::printf("], ");
      tell(race->position() - race->home);
      std::printf("}\n");
    } else if (word == "rest") {
      double seconds = 1.0;
      words >> seconds;
      rest(*race, seconds);
    } else {
      return 0;
    }
    std::fflush(stdout);
  }
}
